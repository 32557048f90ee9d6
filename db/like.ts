/** The pattern by which LIKE finds a text anywhere; what LIKE reads specially stands for itself. */
export const containing = (text: string) => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
