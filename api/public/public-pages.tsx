import { createHash } from 'node:crypto'
import type { ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { languageTag } from '../../mail/language.ts'
import type { PublicContact } from '../../db/contacts/subscription.ts'
import { publicWords, type PublicWords, spokenLanguage } from './public-words.ts'

export const choices = ['all', 'necessary', 'none'] as const
export type Choice = (typeof choices)[number]

interface View {
	contact: PublicContact
	/** The mail that led here, or null. */
	emailId: string | null
}

// No child selectors and no quotes: React would escape them, and the policy knows the style by its hash.
const style = `
:root { color-scheme: light dark; --text: #1c2128; --quiet: #56606d; --page: #f3f5f8; --card: #fff; --accent: #0b57c2; --on: #fff; --line: #d3d8df; --edge: #767f8b; --done: #1a7f4b; --done-page: #e9f6ef }
@media (prefers-color-scheme: dark) { :root { --text: #e8eaed; --quiet: #a9b1bc; --page: #14171c; --card: #1c2026; --accent: #8ab8ff; --on: #10141a; --line: #3b424c; --edge: #8b949f; --done: #57c98d; --done-page: #16301f } }
* { box-sizing: border-box }
body { margin: 0; font: 1.0625rem/1.55 system-ui, sans-serif; color: var(--text); background: var(--page) }
main { width: 100%; max-width: 34rem; margin: clamp(0rem, 8vh, 6rem) auto; padding: 1.75rem clamp(1.1rem, 5vw, 2.25rem); background: var(--card); border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25 }
p { margin: 0 0 1.25rem }
.sender { margin: 0 0 1.25rem; font-size: .9375rem; color: var(--quiet) }
.saved { padding: .6rem .9rem; border-inline-start: .25rem solid var(--done); background: var(--done-page) }
form { margin: 0 0 1.25rem }
button { font: inherit; font-weight: 600; min-height: 2.75rem; padding: .55rem 1.4rem; border: 2px solid var(--accent); border-radius: .5rem; color: var(--on); background: var(--accent); cursor: pointer }
button.quiet { color: var(--accent); background: transparent }
a { display: inline-block; padding: .55rem 0; color: var(--accent) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px }
fieldset { margin: 0 0 1.25rem; padding: 0; border: 0 }
legend { padding: 0; margin: 0 0 .75rem }
label { display: grid; grid-template-columns: auto 1fr; gap: 0 .85rem; padding: .85rem 1rem; margin: 0 0 .6rem; border: 1px solid var(--line); border-radius: .5rem; cursor: pointer }
label:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent) }
input { width: 1.2rem; height: 1.2rem; margin: .2rem 0 0; accent-color: var(--accent); grid-row: span 2 }
label strong { font-weight: 600 }
label span { grid-column: 2; font-size: .9375rem; color: var(--quiet) }
label.field { display: block; margin: 0 0 .35rem; padding: 0; border: 0; font-weight: 600 }
input.field { display: block; width: 100%; height: auto; margin: 0 0 .35rem; padding: .6rem .8rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--edge); border-radius: .5rem }
@media (max-width: 34rem) { main { min-height: 100vh; margin: 0; border: 0; border-radius: 0 } }
`

/** Nothing but our style and forms to ourselves. */
export const pagePolicy =
	`default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; ` +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export function unsubscribePage(view: View) {
	const { contact } = view
	const { language, words, fill } = speak(contact)
	if (!contact.subscribed || contact.stopped) return unsubscribedPage(view)
	return page(language, words.unsubscribe, contact.sender, [
		<p>{fill(words.unsubscribeQuestion)}</p>,
		<Act to="unsubscribe" view={view} label={words.unsubscribe} />,
		<ManageLink view={view} words={words} />,
	])
}

export function unsubscribedPage(view: View) {
	const { contact } = view
	if (contact.stopped) return stoppedPage(view)
	const { language, words, fill } = speak(contact)
	return page(language, words.unsubscribed, contact.sender, [
		<p role="status">{fill(words.unsubscribedMeans)}</p>,
		<Act to="subscribe" view={view} label={words.subscribeAgain} quiet />,
		<ManageLink view={view} words={words} />,
	])
}

export function subscribePage(view: View) {
	const { contact } = view
	const { language, words, fill } = speak(contact)
	if (!mayResume(contact)) return stoppedPage(view)
	if (contact.subscribed && !contact.stopped) return subscribedPage(view)
	return page(language, words.subscribe, contact.sender, [
		<p>{fill(words.subscribeQuestion)}</p>,
		<Act to="subscribe" view={view} label={words.subscribe} />,
		<ManageLink view={view} words={words} />,
	])
}

export function subscribedPage(view: View) {
	const { contact } = view
	if (!mayResume(contact)) return stoppedPage(view)
	const { language, words, fill } = speak(contact)
	return page(language, words.subscribed, contact.sender, [
		<p role="status">{fill(words.subscribedMeans)}</p>,
		<Act to="unsubscribe" view={view} label={words.unsubscribe} quiet />,
		<ManageLink view={view} words={words} />,
	])
}

const meanings: Record<Choice, (words: PublicWords) => string> = {
	all: (words) => words.subscribedMeans,
	necessary: (words) => words.unsubscribedMeans,
	none: (words) => words.stopped,
}

/** Confirms a choice only if it was saved. */
export function managePage(view: View, toSave?: Choice) {
	const { contact } = view
	if (!mayResume(contact)) return stoppedPage(view)
	const { language, words, fill } = speak(contact)
	const chosen = contact.stopped ? 'none' : contact.subscribed ? 'all' : 'necessary'
	const offered = choices.filter((choice) => choice !== 'none' || contact.readsMail)
	return page(language, words.manage, contact.sender, [
		toSave === chosen && (
			<p className="saved" role="status">
				{words.saved} {fill(meanings[chosen](words))}
			</p>
		),
		<form method="post" action={addressOf('manage', view)}>
			<fieldset>
				<legend>{fill(words.manageIntroduction)}</legend>
				{offered.map((choice) => (
					<label key={choice}>
						<input type="radio" name="choice" value={choice} defaultChecked={choice === chosen} />
						<strong>{words[choice]}</strong>
						<span>{words[`${choice}Means`]}</span>
					</label>
				))}
			</fieldset>
			<button>{words.save}</button>
		</form>,
		!contact.readsMail && <p>{words.fromMail}</p>,
	])
}

/** Allowing mail again after stopping all mail needs a link from a mail. */
const mayResume = ({ stopped, readsMail }: PublicContact) => readsMail || !stopped

/** After "no emails at all". The way back is on it for readers who came from a mail. */
function stoppedPage(view: View) {
	const { contact } = view
	const { language, words, fill } = speak(contact)
	return page(language, words.none, contact.sender, [
		<p role="status">{fill(words.stopped)}</p>,
		...(mayResume(contact)
			? [
					<Act to="subscribe" view={view} label={words.subscribeAgain} quiet />,
					<ManageLink view={view} words={words} />,
				]
			: [<p>{words.fromMail}</p>]),
	])
}

export const missingPage = (language: string) =>
	page(language, publicWords[language]!.missing, null, [
		<p>{publicWords[language]!.missingMeans}</p>,
	])

export const tooOftenPage = (language: string) =>
	page(language, publicWords[language]!.tooOften, null, [
		<p>{publicWords[language]!.tooOftenMeans}</p>,
	])

export const unavailablePage = (language: string) =>
	page(language, publicWords[language]!.unavailable, null, [
		<p>{publicWords[language]!.unavailableMeans}</p>,
	])

export const languageOf = ({ locale, projectLanguage }: PublicContact) =>
	languageTag(locale, projectLanguage)

function speak(contact: PublicContact) {
	const language = spokenLanguage(languageOf(contact))
	const fill = (text: string) =>
		text
			.split(/(\{email\}|\{project\})/)
			.map((part, index) =>
				part === '{email}' ? (
					<strong key={index}>{contact.email}</strong>
				) : part === '{project}' ? (
					contact.sender
				) : (
					part
				),
			)
	return { language, words: publicWords[language]!, fill }
}

/** Relative, so that it is right under whatever path we are reached. */
const addressOf = (name: string, { contact, emailId }: View) =>
	`../${name}/${contact.id}${emailId === null ? '' : `?e=${emailId}`}`

function Act(props: { to: string; view: View; label: string; quiet?: boolean }) {
	return (
		<form method="post" action={addressOf(props.to, props.view)}>
			<button className={props.quiet ? 'quiet' : undefined}>{props.label}</button>
		</form>
	)
}

function ManageLink({ view, words }: { view: View; words: PublicWords }) {
	return <a href={addressOf('manage', view)}>{words.manage}</a>
}

export function page(
	language: string,
	title: string,
	project: string | null,
	content: ReactNode[],
) {
	const html = renderToStaticMarkup(
		<html lang={language}>
			<head>
				<meta charSet="utf-8" />
				<meta name="viewport" content="width=device-width, initial-scale=1" />
				<meta name="robots" content="noindex, nofollow" />
				<title>{project === null ? title : `${title} · ${project}`}</title>
				<style>{style}</style>
			</head>
			<body>
				<main>
					{project !== null && <p className="sender">{project}</p>}
					<h1>{title}</h1>
					{...content}
				</main>
			</body>
		</html>,
	)
	return `<!DOCTYPE html>${html}`
}
