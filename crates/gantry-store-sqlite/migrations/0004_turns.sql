-- Turns lie in the order in which they are written, so that turns of many plans share pages: kept in the order of their
-- plans, every turn between those of other plans moved its neighbours about. This index leads from a plan to its turns.
-- Turns from before keep their ids, which are below those of all that come.
CREATE UNIQUE INDEX turn_of_plan ON turn (plan_no, last_seq);
