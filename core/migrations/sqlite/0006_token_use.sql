-- When credentials were last used. Its twin for the other back end stands beside it under the same number.

-- Microseconds UTC, written now and then behind the calls; null where a credential was never used.
alter table token add column last_used_us bigint;
