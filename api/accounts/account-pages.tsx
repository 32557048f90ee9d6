import type { ReactNode } from 'react'
import { page } from '../public/public-pages.tsx'
import { type AccountWords, accountWords } from './account-words.ts'

// Where the links in our mails lead: a page with a form, and one that says what it has done.

export interface Invited {
	project: string
	email: string
	hasAccount: boolean
}

/** Anybody can sign up with an address: who confirms it lets that password into the account. */
export function verifyPage(language: string, token: string) {
	const words = accountWords[language]!
	return page(language, words.verify, null, [
		<p>{words.verifyMeans}</p>,
		<Form to="verify-email" token={token} label={words.verify} />,
		<p>{words.verifyElse}</p>,
	])
}

export function resetPage(language: string, token: string, isRefused: boolean) {
	const words = accountWords[language]!
	const field = { name: 'newPassword', label: words.newPassword, rule: words.passwordRule }
	return page(language, words.reset, null, [
		<Form to="reset-password" token={token} label={words.reset}>
			<NewPassword {...field} isRefused={isRefused} />
		</Form>,
	])
}

export function invitationPage(
	language: string,
	token: string,
	{ project, email, hasAccount }: Invited,
	isRefused: boolean,
) {
	const words = accountWords[language]!
	const field = { name: 'password', label: words.password, rule: words.passwordRule }
	return page(
		language,
		words.join.replace('{project}', () => project),
		project,
		[
			<p>{words.joinMeans.replace('{email}', () => email)}</p>,
			<Form to="accept-invitation" token={token} label={words.accept}>
				{!hasAccount && <NewPassword {...field} isRefused={isRefused} />}
			</Form>,
		],
	)
}

export const verifiedPage = (language: string) => done(language, 'verified')
export const wasResetPage = (language: string, isSecured: boolean) =>
	done(language, 'wasReset', 'wasResetMeans', ...secured(isSecured))
export const joinedPage = (language: string, isSecured: boolean) =>
	done(language, 'joined', ...secured(isSecured))
export const loggedInPage = (language: string, isSecured: boolean) =>
	done(language, 'loggedIn', ...secured(isSecured))
export const notLoggedInPage = (language: string) =>
	saying(language, 'notLoggedIn', 'notLoggedInMeans')
export const expiredPage = (language: string) => saying(language, 'expired', 'expiredMeans')

export function expiredLoginPage(language: string) {
	const words = accountWords[language]!
	return page(language, words.expired, null, [
		<p role="status">{words.expiredLogin}</p>,
		toConsole(language),
	])
}

type Word = Exclude<keyof AccountWords, 'join' | 'joinMeans'>

const secured = (isSecured: boolean): Word[] => (isSecured ? ['secured'] : [])

const toConsole = (language: string) => (
	<p key="console">
		<a href="/">{accountWords[language]!.openConsole}</a>
	</p>
)

/** The next step is to log in, or to go on. */
const done = (language: string, title: Word, ...means: Word[]) =>
	page(language, accountWords[language]![title], null, [
		...sentences(language, means),
		toConsole(language),
	])

const saying = (language: string, title: Word, ...means: Word[]) =>
	page(language, accountWords[language]![title], null, sentences(language, means))

const sentences = (language: string, words: Word[]) =>
	words.map((word) => (
		<p role="status" key={word}>
			{accountWords[language]![word]}
		</p>
	))

/** Relative, so that it is right under whatever path we are reached. */
function Form(props: { to: string; token: string; label: string; children?: ReactNode }) {
	return (
		<form method="post" action={props.to}>
			<input type="hidden" name="token" value={props.token} />
			{props.children}
			<button>{props.label}</button>
		</form>
	)
}

function NewPassword(props: { name: string; label: string; rule: string; isRefused: boolean }) {
	return (
		<p>
			<label className="field" htmlFor="password">
				{props.label}
			</label>
			<input
				className="field"
				type="password"
				id="password"
				name={props.name}
				autoComplete="new-password"
				required
				minLength={8}
				maxLength={200}
				aria-describedby="rule"
				aria-invalid={props.isRefused || undefined}
			/>
			<small id="rule" role={props.isRefused ? 'alert' : undefined}>
				{props.rule}
			</small>
		</p>
	)
}
