//! Lists of words that several readers share.

/// Whether a word is one of a list, which is written with blanks between its words.
pub(super) fn among(word: &str, list: &str) -> bool {
    list.split_whitespace().any(|one| one == word)
}

/// The value of a number word.
pub(super) fn number(word: &str) -> Option<u32> {
    const ONES: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    if let Some(value) = ONES.iter().position(|one| *one == word) {
        return u32::try_from(value).ok();
    }
    TENS.iter().position(|ten| *ten == word).and_then(|place| u32::try_from((place + 2) * 10).ok())
}

/// Whether a word is an abbreviation whose full stop ends no sentence, even before a capital: `Dr. Smith`.
pub(super) fn is_abbreviation(word: &str) -> bool {
    among(word, "approx ca cf dept dr eg ie incl jr mr mrs ms st vs prof")
}

/// Whether a word is a verb that asks for something to be made or done, as it stands at the start of a request.
pub(super) fn is_request(word: &str) -> bool {
    const VERBS: &str = " abandon achieve address adopt arrange assemble automate become book bring build buy carry change clean \
        close collect commission complete conduct construct convert cook create define deliver deploy design develop distill \
        distribute do draft eliminate engineer eradicate establish evacuate execute expand explore find fix formulate found get go \
        grow hire host identify implement improve increase install introduce invent investigate launch learn limit make manage \
        manufacture map migrate move open operate organise organize paint perform pick pilot plan plant prepare produce propose \
        protect provide publish reach redesign reduce relocate remodel renovate repair replace rescue research restore restructure \
        roll run scale sell send set sever shoot sort start stop study take teach test track train transform travel turn \
        upgrade visit water win write rewrite merge cut outline abolish secure certify rebuild refurbish digitise digitize celebrate translate vaccinate ship hold learn finish archive document review audit negotiate recruit \
        apply enrol enroll wash iron vacuum mow sew knit fit refit throw train declutter tidy paint tile wire plumb unblock descale sharpen \
        restock bake brew print record film compose draw code program refactor integrate connect modernise modernize decommission \
        dismantle demolish drill electrify insulate retrofit evaluate assess analyse analyze compare monitor measure survey invest save ";
    among(word, VERBS)
}

/// Whether a word is a noun for a whole undertaking, so that a length or a sum before it holds for all of it.
pub(super) fn is_undertaking(word: &str) -> bool {
    const NOUNS: &str = " initiative program programme project plan rollout roll-out campaign mission budget response evacuation trip \
        vacation holiday journey tour transition grant timeline timeframe schedule effort unit migration expedition deadline process \
        undertaking construction build roadmap sprint study trial pilot challenge renovation ";
    among(word, NOUNS)
}

/// Whether a word names people: who acts, or for whom it is.
pub(super) fn is_people(word: &str) -> bool {
    const NOUNS: &str = " adults agents architects artists athletes beginners businesses buyers children citizens clients communities \
        companies commuters congregants consumers couples customers designers developers doctors elderly employees engineers families \
        farmers friends girls boys guests homeowners hospitals humans individuals instructors kids learners locals members men mothers \
        nurses parents participants patients people persons players professionals pupils readers refugees researchers residents \
        retirees schools scientists seniors smallholders speakers startups students subscribers survivors teachers technicians \
        teenagers teens tenants tourists toddlers travelers travellers users veterans visitors voters volunteers women workers \
        youth architect developer engineer investigator psychologist coordinator researcher technician physician person enumerators \
        staff contractors ";
    among(word, NOUNS)
}

/// Whether a word begins a noun phrase.
pub(super) fn is_determiner(word: &str) -> bool {
    among(word, "a an the my our your his her their its this that these those all some any every each")
}
