import { TempostError } from '../index.ts'
import type { Domain, Health } from '../index.ts'
import { type Command, type Context, exitCodes, faultOf } from './command.ts'

interface Finding {
	check: string
	state: 'ok' | 'warning' | 'problem'
	message: string
	/** What to do. */
	advice?: string
}

const ok = (check: string, message: string): Finding => ({ check, state: 'ok', message })
const warning = (check: string, message: string, advice: string): Finding => ({
	check,
	state: 'warning',
	message,
	advice,
})
const problem = (check: string, message: string, advice: string): Finding => ({
	check,
	state: 'problem',
	message,
	advice,
})

export const doctor: Command = {
	usage: '',
	mostWords: 0,
	summary:
		'Check the service, the keys, the domains and the clocks, and say how to mend what is wrong.',
	options: {},
	help: {},
	async run(context) {
		const findings = await examine(context)
		// Requests that Ctrl-C ended would be shown as problems.
		context.signal.throwIfAborted()
		const isWell = findings.every(({ state }) => state !== 'problem')
		context.out.show({ ok: isWell, findings }, () => findings.map(lineOf).join('\n'))
		return isWell ? exitCodes.done : exitCodes.failed
	},
}

const marks = { ok: '✔', warning: '!', problem: '✘' }

const lineOf = ({ check, state, message, advice }: Finding) =>
	`${marks[state]} ${check.padEnd(11)}${message}${advice ? `\n  ${''.padEnd(11)}→ ${advice}` : ''}`

async function examine(context: Context): Promise<Finding[]> {
	const { settings, signal } = context
	const service = await healthOf(settings.url, signal)
	if ('state' in service) return [service]
	return [
		...healthFindings(service.health),
		clockFinding(service.skewSeconds),
		await secretKeyFinding(context),
		await publicKeyFinding(context),
		...(await domainFindings(context)),
	]
}

async function healthOf(url: string, signal: AbortSignal) {
	try {
		const began = Date.now()
		const patience = AbortSignal.any([signal, AbortSignal.timeout(10_000)])
		const response = await fetch(`${url}/health`, { signal: patience })
		const health = parsed(await response.text())
		if (!isHealth(health)) return strangeAnswer(url, response)
		const theirs = Date.parse(response.headers.get('date') ?? '')
		// Their clock was read at some time between the two.
		const ours = (began + Date.now()) / 2
		return { health, skewSeconds: Math.round((theirs - ours) / 1000) }
	} catch (error) {
		return problem(
			'Service',
			`${url} does not answer: ${faultOf(error as Error)}`,
			'Start it with npm start, or give its address with --url or TEMPOST_URL.',
		)
	}
}

/** Undefined: not JSON. */
function parsed(text: string): unknown {
	try {
		return JSON.parse(text)
	} catch {
		return undefined
	}
}

/** Other services have a /health, too. */
const isHealth = (answer: unknown): answer is Health =>
	typeof (answer as Partial<Health> | null | undefined)?.checks?.database === 'string'

/** A proxy answers with such a status while the service behind it does not run. */
const strangeAnswer = (url: string, { status }: Response) =>
	status >= 500
		? problem(
				'Service',
				`${url} answers with ${status}`,
				'Start the service, or give its address with --url or TEMPOST_URL.',
			)
		: problem(
				'Service',
				`${url} answers, but is not Tempost`,
				'Give the address of its API with --url or TEMPOST_URL.',
			)

const healthAdvice = {
	database: 'Start Postgres, and check DATABASE_URL of the API.',
	temporal: 'Start Temporal, and check TEMPORAL_ADDRESS. Mail is accepted and waits.',
	worker: 'Start a worker: npm run worker. Mail is accepted and waits.',
	provider: 'Check the provider’s account and its status page. Mail waits until it answers.',
}

const nameOf = (check: string) => check[0]!.toUpperCase() + check.slice(1)

const healthFindings = ({ checks, provider }: Health) =>
	Object.entries(checks).map(([check, state]) => {
		const detail = check === 'provider' && provider ? `: ${provider.answer}` : ''
		return state === 'ok'
			? ok(nameOf(check), 'ok')
			: problem(nameOf(check), `away${detail}`, healthAdvice[check as keyof typeof healthAdvice])
	})

/** Signatures of webhooks are valid for five minutes. */
function clockFinding(skewSeconds: number) {
	const size = Math.abs(skewSeconds)
	if (Number.isNaN(size)) return warning('Clock', 'the service sends no time', 'Check its proxy.')
	if (size <= 5) return ok('Clock', 'the clocks agree')
	const message = `this machine and the service differ by ${size} s`
	const advice = 'Set both clocks by NTP. Webhooks are refused when they differ by more than 300 s.'
	return size > 300 ? problem('Clock', message, advice) : warning('Clock', message, advice)
}

async function secretKeyFinding({ settings: { secretKey }, tempost, signal }: Context) {
	const advice = 'Give it with --key or TEMPOST_SECRET_KEY. It begins with sk_.'
	if (!secretKey) return problem('Secret key', 'none', advice)
	return tempost.emails.list({ limit: 1 }, { signal }).then(
		() => ok('Secret key', 'accepted'),
		(error: unknown) => refused('Secret key', error, advice),
	)
}

async function publicKeyFinding({ settings: { publicKey }, tempost, signal }: Context) {
	const advice = 'Give it with --public-key or TEMPOST_PUBLIC_KEY. It begins with pk_.'
	if (!publicKey) return warning('Public key', 'none, so that track does not work', advice)
	// The key is checked before the body, which is wrong and therefore changes nothing.
	return tempost.track({} as never, { signal }).then(
		() => ok('Public key', 'accepted'),
		(error: unknown) =>
			error instanceof TempostError && error.status === 422
				? ok('Public key', 'accepted')
				: refused('Public key', error, advice),
	)
}

const refused = (check: string, error: unknown, advice: string) =>
	problem(check, (error as Error).message, (error as TempostError).suggestion ?? advice)

async function domainFindings({ settings: { secretKey }, tempost, signal }: Context) {
	if (!secretKey) return []
	try {
		const domains = await tempost.domains.list('@me', { signal })
		if (domains.length === 0)
			return [problem('Domains', 'none', 'Add the domain you send from: POST /domains.')]
		const checked = await Promise.all(
			domains.map(({ id }) => tempost.domains.verify(id, { signal })),
		)
		return checked.map(domainFinding)
	} catch (error) {
		return [refused('Domains', error, 'Try again.')]
	}
}

function domainFinding({ domain, verified, records, lastError }: Domain) {
	const missing = records.filter(({ status }) => status !== 'verified')
	if (verified && missing.length === 0) return ok('Domain', `${domain} is verified`)
	const list = missing.map(({ type, name, value }) => `${type} ${name} ${value}`).join('; ')
	const advice = list ? `Set in DNS: ${list}` : 'Wait for the next check.'
	return verified
		? warning('Domain', `${domain} is verified, and lacks records`, advice)
		: problem('Domain', `${domain} is not verified${lastError ? `: ${lastError}` : ''}`, advice)
}
