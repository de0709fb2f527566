-- How people came to their sessions. Its twin for the other back end stands beside it under the same number.

-- 'link' or 'oidc' on a session; null on every other credential, and on sessions from before there was a choice.
alter table token add column method text check (method in ('link', 'oidc'));
