import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Pool, PoolClient } from 'pg'
import type { DomainChecker } from '../../outside/domains/checker.ts'
import { recordRequestedCheck } from '../../outside/domains/check-recording.ts'
import {
	abandonDomain,
	addDomain,
	countDomains,
	type DomainRow,
	domainsOf,
	domainUses,
	findDomain,
	hasDomain,
	mostDomains,
	removeDomain,
} from '../../db/domains/domain-records.ts'
import { countPending, lockOwner, mostPending } from '../../db/domains/pending-domains.ts'
import { transaction } from '../../db/transaction.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { createFairTurns, TurnsBusy } from '../../db/fair-turns.ts'
import { countTry } from '../accounts/throttling.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import { lockAdministered } from '../projects/administering.ts'
import { about, Body, Component, Id, Nullable, PathId, Timestamp } from '../schemas.ts'
import { domainName } from './domain-name.ts'

const tags = ['domains']
const config = { auth: 'secret key or session' } as const
const Params = Type.Object({ id: PathId('domain') })
const ownProject = '@me'
const ProjectParams = Type.Object({
	projectId: Type.String({
		pattern: `^(${ownProject}|[\\da-fA-F]{8}(-[\\da-fA-F]{4}){3}-[\\da-fA-F]{12})$`,
		'x-resource': 'project',
		description: `The id of the project, or \`${ownProject}\`.`,
	}),
})
const checksAMinute = 60
/** A domain whose name servers are silent is waited for more than ten seconds. */
const turns = { atOnce: 20, ofOne: 4, waiting: 40, waitingOfAll: 400, patienceMs: 10_000 }

const DomainView = Component('Domain', {
	id: Id,
	domain: Type.String(),
	verified: Type.Boolean(),
	status: Type.Enum(['pending', 'verified']),
	lastError: Nullable(Type.String()),
	records: Type.Array(
		Type.Object({
			type: Type.Enum(['TXT', 'CNAME', 'MX']),
			name: Type.String(),
			value: Type.String(),
			priority: Type.Optional(Type.Integer()),
			purpose: Type.Enum(['DKIM', 'SPF', 'MX', 'DMARC', 'OWNERSHIP']),
			status: Type.Enum(['pending', 'verified']),
			found: about(
				'What DNS had there at the last check, at most five answers. Null: DNS did not answer, or was not asked yet',
				Nullable(Type.Array(Type.String())),
			),
		}),
		{
			description:
				'The records to set in DNS. Sending needs DKIM and SPF, and OWNERSHIP where it is listed',
		},
	),
	lastCheckedAt: Nullable(Timestamp),
	projectId: Id,
	createdAt: Timestamp,
	updatedAt: Timestamp,
})

interface DomainOptions {
	pool: Pool
	checker: DomainChecker
}

export const domains: FastifyPluginAsyncTypebox<DomainOptions> = async (app, { pool, checker }) => {
	const inTurn = createFairTurns(turns)

	app.get(
		'/domains/project/:projectId',
		{
			config,
			schema: {
				tags,
				summary: 'List the domains of a project, newest first',
				description:
					'Verified and pending ones, each with the DNS records it needs. `@me` stands for the project of the key or of `X-Project-Id`.',
				params: ProjectParams,
				response: { 200: Type.Array(DomainView) },
			},
		},
		async ({ project, params }) => {
			const { projectId } = params
			if (projectId !== ownProject && projectId.toLowerCase() !== project.publicId)
				throw notFound('project', params.projectId)
			return (await domainsOf(pool, { projectId: project.id })).map(view)
		},
	)

	app.post(
		'/domains',
		{
			config: { ...config, errors: [409] },
			schema: {
				tags,
				summary: 'Add a domain; the answer lists the DNS records that it needs',
				description: `A project may have ${mostDomains} domains. With Resend, at most ${mostPending} domains of an owner may be unverified. Several projects may have the same domain pending; the first to prove it has it. A domain that is verified in another project is a 409, until that project removes it or loses its DNS records.`,
				body: Body(
					{ domain: 'example.com' },
					{ domain: Type.String({ description: 'The domain, without http:// or a path.' }) },
				),
				response: { 201: DomainView },
			},
		},
		async (request, reply) => {
			const { project, body } = request
			const name = domainName(body.domain)
			await mayCheck(project.id)
			const [added] = await transaction(pool, async (db) => {
				const wanted = { projectId: project.id, domain: name }
				const refusal = await refusalOfMore(db, request)
				if (!refusal) return addDomain(db, wanted)
				const [mine] = await hasDomain(db, wanted)
				throw mine ? already(name, mine.id) : refusal
			})
			if (!added) throw await taken(project.id, name)
			return reply.code(201).send(view(await introduced(request, added)))
		},
	)

	app.get(
		'/domains/:id/verify',
		{
			config: { ...config, errors: [409] },
			schema: {
				tags,
				summary: 'Check the DNS records of a domain now',
				description:
					'A domain that is verified in another project is a 409, whatever its DNS says.',
				params: Params,
				response: { 200: DomainView },
			},
		},
		async (request) => {
			const { project, params } = request
			const domain = await found(project.id, params.id)
			await mayCheck(project.id)
			return view(domain.sweepExempt ? domain : await checked(request, domain))
		},
	)

	app.delete(
		'/domains/:id',
		{
			config: { ...config, errors: [409] },
			schema: {
				tags,
				summary: 'Remove a domain',
				description:
					'Mail from its addresses is refused afterwards. The call is refused with 409 while a template or a campaign uses one of them.',
				params: Params,
				response: { 204: Type.Null() },
			},
		},
		async ({ project, params }, reply) => {
			const { domain } = await found(project.id, params.id)
			const [uses] = await domainUses(pool, { projectId: project.id, domain })
			if (uses!.templates.length + uses!.campaigns.length > 0)
				throw new ApiError(409, 'CONFLICT', `Mail is sent from ${domain}`, {
					details: { ...uses },
					suggestion: 'Give these templates and campaigns another sender first, or delete them.',
				})
			const [gone] = await removeDomain(pool, {
				projectId: project.id,
				domainId: params.id,
				taskQueue: taskQueues.core,
			})
			if (!gone) throw notFound('domain', params.id)
			app.relay.wake()
			return reply.code(204).send(null)
		},
	)

	async function found(projectId: string, id: string) {
		const [domain] = await findDomain(pool, { projectId, domainId: id })
		if (!domain) throw notFound('domain', id)
		return domain
	}

	/**
	 * The answer to a new domain contains its DNS records; if they can't be determined, the domain is not
	 * added, unless a check by another request has determined them.
	 */
	async function introduced(request: FastifyRequest, row: DomainRow) {
		const finding = await findingOf(request, row)
		const recorded = finding && (await recordRequestedCheck(pool, row, finding))
		if (recorded && (finding.isVerified !== null || recorded.records.length > 0)) return recorded
		const key = { projectId: row.projectId, domainId: row.id }
		const [gone] = await abandonDomain(pool, { ...key, taskQueue: taskQueues.core })
		const [kept] = gone ? [] : await findDomain(pool, key)
		if (kept) return kept
		app.relay.wake()
		throw unavailable('the domain was not added', finding?.error)
	}

	async function checked(request: FastifyRequest, row: DomainRow) {
		const finding = await findingOf(request, row)
		if (!finding) throw unavailable('the domain was not checked')
		const recorded = await recordRequestedCheck(pool, row, finding)
		if (!recorded) throw notFound('domain', row.id)
		if (recorded.isTaken) throw takenElsewhere(row.domain)
		return recorded
	}

	/** null: too many others are being checked. */
	async function findingOf(request: FastifyRequest, row: DomainRow) {
		try {
			return await request.stepAside(() => inTurn(row.projectId, () => checker.check(row)))
		} catch (error) {
			if (!(error instanceof TurnsBusy)) throw error
			return null
		}
	}

	/** Locks first, so that of several at once the last are refused, and so are callers whose access has ended. */
	async function refusalOfMore(db: PoolClient, request: FastifyRequest) {
		const { id, publicId } = request.project
		const ofProject = { projectId: id }
		if (checker.setsUpUnproved) await lockOwner(db, ofProject)
		// Otherwise a reset has moved the domains to another row.
		if ((await lockAdministered(request, db)) !== id) throw notFound('project', publicId)
		const [all] = await countDomains(db, ofProject)
		if (all!.count >= mostDomains) return tooMany(`a project has at most ${mostDomains}`)
		const [pending] = checker.setsUpUnproved ? await countPending(db, ofProject) : []
		if (!pending || pending.count < mostPending) return null
		return tooMany(`an owner has at most ${mostPending} unverified ones in all projects`)
	}

	/** A check asks others: resolvers, the provider. */
	const mayCheck = (subject: string) =>
		countTry(pool, { what: 'domain check', subject, tries: checksAMinute, seconds: 60 })

	async function taken(projectId: string, domain: string) {
		const [mine] = await hasDomain(pool, { projectId, domain })
		return mine ? already(domain, mine.id) : takenElsewhere(domain)
	}
}

const already = (domain: string, id: string) =>
	new ApiError(409, 'CONFLICT', `${domain} is already a domain of this project`, {
		details: { domain, id },
		suggestion: 'Check it with GET /domains/{id}/verify.',
	})

const tooMany = (limit: string) =>
	invalid({
		field: 'domain',
		message: `is one too many: ${limit}`,
		code: 'too_big',
	})

/** The other project is not named. */
const takenElsewhere = (domain: string) =>
	new ApiError(409, 'CONFLICT', `${domain} is verified in another project`, {
		details: { domain },
		suggestion:
			'If it is yours, have it removed there, or remove the DNS records of that project: after three failed checks the domain is free.',
	})

const unavailable = (end: string, reason?: string | null) =>
	new ApiError(
		503,
		'EXTERNAL_SERVICE_ERROR',
		reason ?? 'Too many domains are being checked at the moment',
		{ retryAfterSeconds: 10, suggestion: `Try again in a moment; ${end}.` },
	)

const view = ({ verifiedAt, records, ...domain }: DomainRow) => ({
	...domain,
	records: records.map((record) => ({ ...record, found: record.found ?? null })),
	verified: verifiedAt !== null,
	status: verifiedAt === null ? ('pending' as const) : ('verified' as const),
})
