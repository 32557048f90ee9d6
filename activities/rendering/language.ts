const rightToLeft = new Set(['ar', 'ckb', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi'])

/** The first usable of a contact's and a project's language, as a tag for `lang`: `de_AT` → `de-AT`. */
export function languageTag(...candidates: (string | null | undefined)[]): string {
	for (const candidate of candidates) {
		if (candidate && /^[a-z]{2,3}(?:[-_][a-z0-9]{2,8}){0,3}$/i.test(candidate)) {
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
