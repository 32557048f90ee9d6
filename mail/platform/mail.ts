import { createElement } from 'react'
import { render } from 'react-email'
import { primaryLanguage } from '../language.ts'
import { spokenWords } from './languages.ts'
import { plainName, plainNames } from './plain-name.ts'
import { Letter } from './letter.tsx'
import type { PlatformMailData, PlatformMailKind } from './words.ts'

/** Subject and body of one of our own mails, in the reader's language if we have it. */
export async function renderPlatformMail<Kind extends PlatformMailKind>(
	kind: Kind,
	language: string,
	data: PlatformMailData[Kind],
): Promise<{ language: string; subject: string; body: string }> {
	const primary = primaryLanguage(language)
	const spoken = spokenWords[primary] ? primary : 'en'
	const { letters, addressOfButton } = spokenWords[spoken]!
	const letter = letters[kind](withPlainNames(data))
	const url = 'url' in data ? data.url : null
	const body = await render(
		createElement(Letter, { ...letter, language: spoken, url, addressOfButton }),
	)
	return { language: spoken, subject: letter.subject, body }
}

function withPlainNames<Data extends object>(data: Data): Data {
	return {
		...data,
		...('project' in data && { project: plainName(data.project as string) }),
		...('projects' in data && { projects: plainNames(data.projects as string[]) }),
	}
}
