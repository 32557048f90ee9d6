/** The LIKE pattern for a text anywhere. LIKE's special characters are escaped. */
export const containing = (text: string) => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

/** The same for lower-case columns, such as addresses. */
export const containingLowered = (text: string) => containing(text.toLowerCase())
