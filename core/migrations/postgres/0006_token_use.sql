-- When credentials were last used. Its twin for the embedded store stands beside it under the same number.

set local role toolgate_owner;

-- Microseconds UTC, written now and then behind the calls; null where a credential was never used.
alter table toolgate.token add column last_used_us bigint;

reset role;
