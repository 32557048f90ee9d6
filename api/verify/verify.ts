import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { createFairTurns, TurnsBusy } from '../../db/fair-turns.ts'
import { ApiError } from '../errors.ts'
import { about, Body, Component, Email, normalizeEmail, success } from '../schemas.ts'
import { isDisposable, isForwarding, isPersonal, meantDomain } from './address-lists.ts'
import { createDomainLookUp, type DomainFacts } from './domain-look-up.ts'

const Verdict = Component('AddressVerdict', {
	email: Type.String(),
	valid: Type.Boolean({ description: 'False only if mail certainly can’t arrive' }),
	isDisposable: Type.Boolean(),
	isAlias: Type.Boolean({
		description: 'Whether it belongs to a service that forwards to another mailbox',
	}),
	isTypo: Type.Boolean(),
	isPlusAddressed: Type.Boolean(),
	isPersonalEmail: Type.Boolean(),
	domainExists: Type.Boolean(),
	hasWebsite: Type.Boolean(),
	hasMxRecords: Type.Boolean(),
	suggestedEmail: Type.Optional(Type.String()),
	reasons: Type.Array(Type.String()),
})

/** Lists may be checked at once. A silent domain takes its turn for nearly three seconds, so others wait longer. */
const limits = { atOnce: 100, ofOne: 20, waiting: 100, waitingOfAll: 1000, patienceMs: 3000 }

export const verify: FastifyPluginAsyncTypebox<{ dnsServers: string[] }> = async (app, options) => {
	const lookUp = createDomainLookUp(options.dnsServers)
	const inTurn = createFairTurns(limits)
	app.post(
		'/v1/verify',
		{
			config: { auth: 'secret key' },
			schema: {
				tags: ['public'],
				summary: 'Check an email address',
				description:
					'Checks the address and its domain in DNS, for at most 3 seconds. Sends nothing. Of many checks at once, some first wait up to 3 seconds for their turn, and get 429 after that.',
				body: Body({ email: 'ann@example.org' }, { email: about('The address to check.', Email) }),
				response: { 200: success(Verdict) },
			},
		},
		async (request) => {
			const email = normalizeEmail(request.body.email)
			const look = () => lookUp(email.slice(email.lastIndexOf('@') + 1))
			const facts = await request.stepAside(() => inTurn(request.project.id, look)).catch(orTooMany)
			return { success: true as const, data: judge(email, facts) }
		},
	)
}

function orTooMany(error: unknown): never {
	if (!(error instanceof TurnsBusy)) throw error
	throw new ApiError(429, 'RATE_LIMIT_EXCEEDED', 'Too many addresses are being checked', {
		retryAfterSeconds: 1,
		suggestion: 'Wait for the answers to earlier checks, and send the request again.',
	})
}

/** The findings from the address and from DNS, with a line for each. */
function judge(email: string, { exists, hasMx, hasWebsite, fault }: DomainFacts) {
	const [local, domain] = [email.slice(0, email.lastIndexOf('@')), email.split('@').at(-1)!]
	const meant = meantDomain(domain)
	const isTypo = meant !== undefined
	const findings = {
		// The lists of disposable domains include frequent typing errors, too.
		isDisposable: !isTypo && isDisposable(domain),
		isAlias: isForwarding(domain),
		isTypo,
		isPlusAddressed: /^[^+].*\+/.test(local),
		isPersonalEmail: !isTypo && isPersonal(domain),
	}
	const suggestedEmail = isTypo ? `${local}@${meant}` : undefined
	const lines: [boolean, string][] = [
		[exists === false, `The domain ${domain} does not exist: it has no name servers`],
		[exists !== false && hasMx === false, `The domain ${domain} takes no mail: no MX records`],
		[exists !== false && hasWebsite === false, `The domain ${domain} has no A or AAAA records`],
		[fault !== null, `The domain ${domain} could not be looked up completely: ${fault}`],
		[isTypo, `The domain looks mistyped: ${suggestedEmail} may be meant`],
		[findings.isDisposable, `The domain ${domain} offers disposable addresses`],
		[findings.isAlias, 'The address is an alias: it forwards to another mailbox'],
		[findings.isPlusAddressed, 'The address has a tag after a plus sign'],
		[findings.isPersonalEmail, `The domain ${domain} is a provider of personal mailboxes`],
	]
	const reasons = lines.filter(([applies]) => applies).map(([, reason]) => reason)
	return {
		email,
		// A failed lookup is not a negative answer.
		valid: exists !== false && hasMx !== false,
		...findings,
		domainExists: exists ?? false,
		hasWebsite: hasWebsite ?? false,
		hasMxRecords: hasMx ?? false,
		...(suggestedEmail === undefined ? {} : { suggestedEmail }),
		reasons: reasons.length > 0 ? reasons : ['The address looks fine'],
	}
}
