// When a token ends. Draws nothing.

const DAY_MS = 86_400_000;

/** What is offered first: long enough for work, short enough to be looked at again. */
export const USUAL = '90';

/** Choices, in days; none for never. */
export const SPANS = [
  { value: '7', label: 'in 7 days' }, { value: '30', label: 'in 30 days' }, { value: USUAL, label: 'in 90 days' },
  { value: '365', label: 'in a year' }, { value: '', label: 'never' },
];

/** What a request for a token says of its end. @param {string} days @param {number} now @returns {{expiresAt?: string}} */
export const endOf = (days, now) => (days ? { expiresAt: new Date(now + Number(days) * DAY_MS).toISOString() } : {});
