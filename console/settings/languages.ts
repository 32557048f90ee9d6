const names = new Intl.DisplayNames(undefined, { type: 'language' })

/** The languages of footers, of pages for readers and of our own mails. In any other, they are in English. */
const spoken = ['en', 'de', 'fr', 'es', 'nl']

/** To choose from; a language that was set by the API stays a choice. */
export const languagesWith = (present: string) =>
	[...new Set([...spoken, present])].map((value) => ({ value, name: names.of(value) ?? value }))
