// How a session began, in words.

/** @type {Record<string, string>} */
export const METHODS = { link: 'sign-in link', oidc: 'provider', token: 'token' };
