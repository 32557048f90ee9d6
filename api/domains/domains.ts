import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import type { DomainChecker } from '../../activities/domain-checking/checker.ts'
import { noteAsked } from '../../activities/domain-checking/note.ts'
import {
	addDomain,
	type DomainRow,
	domainsOf,
	domainUses,
	findDomain,
	hasDomain,
	removeDomain,
} from '../../db/domains/domain-records.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { countTry } from '../accounts/throttling.ts'
import { ApiError, notFound } from '../errors.ts'
import { Id, Nullable, PathId, Timestamp } from '../schemas.ts'
import { domainName } from './domain-name.ts'

const tags = ['domains']
const config = { auth: 'secret key or session' } as const
const Params = Type.Object({ id: PathId('domain') })
const checksAMinute = 60

const DomainView = Type.Object({
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
			purpose: Type.Enum(['DKIM', 'SPF', 'MX', 'DMARC']),
			status: Type.Enum(['pending', 'verified']),
		}),
		{ description: 'What is to stand in DNS. Sending needs DKIM and SPF' },
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
	app.get(
		'/domains/project/:projectId',
		{
			config,
			schema: {
				tags,
				summary: 'The domains of a project, newest first',
				params: Type.Object({ projectId: PathId('project') }),
				response: { 200: Type.Array(DomainView) },
			},
		},
		async ({ project, params }) => {
			if (params.projectId.toLowerCase() !== project.publicId)
				throw notFound('project', params.projectId)
			return (await domainsOf(pool, [project.id])).map(view)
		},
	)

	app.post(
		'/domains',
		{
			config: { ...config, errors: [409] },
			schema: {
				tags,
				summary: 'Add a domain; the answer says what is to stand in its DNS',
				body: Type.Object({ domain: Type.String() }),
				response: { 201: DomainView },
			},
		},
		async ({ project, body }, reply) => {
			const name = domainName(body.domain)
			await mayCheck(project.id)
			const [added] = await addDomain(pool, [project.id, name])
			if (!added) throw await taken(project.id, name)
			return reply.code(201).send(view(await introduced(added)))
		},
	)

	app.get(
		'/domains/:id/verify',
		{
			config,
			schema: {
				tags,
				summary: 'Check the DNS records of a domain now',
				params: Params,
				response: { 200: DomainView },
			},
		},
		async ({ project, params }) => {
			const domain = await found(project.id, params.id)
			await mayCheck(project.id)
			return view(domain.sweepExempt ? domain : await checked(domain))
		},
	)

	app.delete(
		'/domains/:id',
		{
			config: { ...config, errors: [409] },
			schema: {
				tags,
				summary: 'Remove a domain',
				params: Params,
				response: { 204: Type.Null() },
			},
		},
		async ({ project, params }, reply) => {
			const { domain } = await found(project.id, params.id)
			const [uses] = await domainUses(pool, [project.id, domain])
			if (uses!.templates.length + uses!.campaigns.length > 0)
				throw new ApiError(409, 'CONFLICT', `Mail is sent from ${domain}`, {
					details: { ...uses },
					suggestion: 'Give these templates and campaigns another sender first, or delete them.',
				})
			const [gone] = await removeDomain(pool, [project.id, params.id, taskQueues.core])
			if (!gone) throw notFound('domain', params.id)
			app.relay.wake()
			return reply.code(204).send(null)
		},
	)

	async function found(projectId: string, id: string) {
		const [domain] = await findDomain(pool, [projectId, id])
		if (!domain) throw notFound('domain', id)
		return domain
	}

	/** Whoever adds a domain is told what is to stand in its DNS, or has added none. */
	async function introduced(row: DomainRow) {
		const finding = await checker.check(row)
		const noted = finding && (await noteAsked(pool, row, finding))
		if (noted && (finding.isVerified !== null || noted.records.length > 0)) return noted
		await removeDomain(pool, [row.projectId, row.id, taskQueues.core])
		app.relay.wake()
		throw unavailable('the domain was not added', finding?.error)
	}

	async function checked(row: DomainRow) {
		const finding = await checker.check(row)
		if (!finding) throw unavailable('the domain was not checked')
		const noted = await noteAsked(pool, row, finding)
		if (!noted) throw notFound('domain', row.id)
		return noted
	}

	/** A check asks others: resolvers, the provider. */
	const mayCheck = (subject: string) =>
		countTry(pool, { what: 'domain check', subject, tries: checksAMinute, seconds: 60 })

	/** Whose it is otherwise is nobody's business. */
	async function taken(projectId: string, domain: string) {
		const [mine] = await hasDomain(pool, [projectId, domain])
		return new ApiError(
			409,
			'CONFLICT',
			mine ? `${domain} is a domain of this project already` : `${domain} is in use already`,
			{
				details: { domain, ...(mine ? { id: mine.id } : {}) },
				suggestion: mine
					? 'Check it with GET /domains/{id}/verify.'
					: 'If it is yours, ask whoever added it to remove it, or write to support.',
			},
		)
	}
}

const unavailable = (end: string, reason?: string | null) =>
	new ApiError(
		503,
		'EXTERNAL_SERVICE_ERROR',
		reason ?? 'Too many domains are being checked at the moment',
		{ retryAfterSeconds: 10, suggestion: `Try again in a moment; ${end}.` },
	)

const view = ({ verifiedAt, ...domain }: DomainRow) => ({
	...domain,
	verified: verifiedAt !== null,
	status: verifiedAt === null ? ('pending' as const) : ('verified' as const),
})
