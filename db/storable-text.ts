/** The database can't store these, not even within JSON: NUL characters and unpaired surrogates. */
export const isStorableText = (text: string) => text.isWellFormed() && !text.includes('\0')

/** The text without them. */
export const storableText = (text: string) => text.toWellFormed().replaceAll('\0', '')

/** Cut before it is made well formed, because a cut may split a surrogate pair. */
export const cutText = (text: string, most: number) =>
	text.replaceAll('\0', '').slice(0, most).toWellFormed()

/** One line of at most `most` characters. */
export const cutLine = (text: string, most: number) =>
	cutText(text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim(), most)
