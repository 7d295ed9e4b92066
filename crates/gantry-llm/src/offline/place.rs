//! Where in an answer a value stands.

/// One place of an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// Its JSON pointer.
    pub path: String,
    /// The same with every index alike, so that the items of a list draw together and then take turns.
    pub kind: String,
    /// The name of its field, or of the list that it is an item of.
    pub name: String,
    /// The name of the nearest list that it is in.
    pub list: Option<String>,
    /// Which item of that list it is in.
    pub index: usize,
    /// How many steps it is from the top.
    pub depth: usize,
    /// How many other values were tried here before.
    pub shift: usize,
}

impl Place {
    /// A property of this place.
    pub fn property(&self, name: &str) -> Self {
        let escaped = name.replace('~', "~0").replace('/', "~1");
        Self {
            path: format!("{}/{escaped}", self.path),
            kind: format!("{}/{escaped}", self.kind),
            name: name.to_owned(),
            depth: self.depth + 1,
            ..self.clone()
        }
    }

    /// An item of this place.
    pub fn item(&self, index: usize, shift: usize) -> Self {
        Self {
            path: format!("{}/{index}", self.path),
            kind: format!("{}/#", self.kind),
            list: Some(self.name.clone()),
            // Lists within lists go on where the one before them stopped.
            index: self.index * 3 + index,
            depth: self.depth + 1,
            shift: self.shift + shift,
            ..self.clone()
        }
    }
}
