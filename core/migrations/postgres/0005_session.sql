-- How people came to their sessions. Its twin for the embedded store stands beside it under the same number.

set local role toolgate_owner;

-- 'link' or 'oidc' on a session; null on every other credential, and on sessions from before there was a choice.
alter table toolgate.token add column method text collate "C" check (method in ('link', 'oidc'));

reset role;
