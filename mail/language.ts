const rightToLeft = new Set(['ar', 'ckb', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi'])
const tag = /^[a-z]{2,3}(?:[-_][a-z0-9]{2,8}){0,3}$/i

/** The language of our own words: the contact's `locale` if it names a language, else the default. */
export const languageFor = (locale: unknown, byDefault: string) =>
	typeof locale === 'string' && tag.test(locale) ? locale : byDefault

/** The first usable language, as a tag for `lang`: `de_AT` → `de-AT`. */
export function languageTag(...candidates: (string | null | undefined)[]): string {
	for (const candidate of candidates) {
		if (candidate && tag.test(candidate)) {
			return candidate.replaceAll('_', '-')
		}
	}
	return 'en'
}

/** `de-AT` → `de` */
export function primaryLanguage(tag: string): string {
	return tag.split('-', 1)[0]!.toLowerCase()
}

export function directionOf(tag: string): 'ltr' | 'rtl' {
	return rightToLeft.has(primaryLanguage(tag)) ? 'rtl' : 'ltr'
}
