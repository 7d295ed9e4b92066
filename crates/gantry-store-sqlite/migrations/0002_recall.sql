-- Calls that are asked for again are found by what was asked. Others are not in it, and cost nothing more to write.
CREATE INDEX effect_by_request ON effect (plan_no, kind, request_hash) WHERE kind IN ('model', 'tool');
