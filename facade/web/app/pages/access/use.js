// When a token or a session was last used. Draws nothing.

/**
 * What stands where no use is told: a gateway that tells it of others knows that there was none; one that tells it of
 * nobody may not know.
 * @param {{lastUsedAt?: string}[] | null | undefined} rows
 */
export const unused = (rows) => (rows?.some((row) => row.lastUsedAt) ? 'never' : 'not known');
