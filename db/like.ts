/** The pattern by which LIKE finds a text anywhere; what LIKE reads specially stands for itself. */
export const containing = (text: string) => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

/** The same for what is kept in small letters only, as addresses are. */
export const containingLowered = (text: string) => containing(text.toLowerCase())
