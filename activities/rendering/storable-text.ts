/** No database takes them, nor any JSON of it: NUL characters, and halves of characters. */
export const isStorableText = (text: string) => text.isWellFormed() && !text.includes('\0')

/** Without them. */
export const storableText = (text: string) => text.toWellFormed().replaceAll('\0', '')

/** Cut before it is made well formed: a cut may halve a character. */
export const cutText = (text: string, most: number) =>
	text.replaceAll('\0', '').slice(0, most).toWellFormed()

/** One line of it, no longer than that. */
export const cutLine = (text: string, most: number) =>
	cutText(text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim(), most)
