import Type from 'typebox'
import { mailTypes } from '../../db/templates/template.ts'
import { about, Id, PageNumber } from '../schemas.ts'
import type { Page } from './answers.ts'
import { briefText, counted, only } from './brief.ts'
import { path } from './route-calls.ts'
import { defineTool, reading, saving } from './tool.ts'

interface Domain {
	id: string
	domain: string
	verified: boolean
	lastError: string | null
	lastCheckedAt: string | null
	records: {
		type: string
		name: string
		value: string
		purpose: string
		priority?: number
		status: string
	}[]
}

const standOf = (domain: Domain) => ({
	...only(domain, 'id', 'domain', 'verified', 'lastError', 'lastCheckedAt'),
	missing: domain.records
		.filter(({ status }) => status !== 'verified')
		.map((record) => only(record, 'type', 'name', 'value', 'purpose', 'priority', 'status')),
	found: domain.records
		.filter(({ status }) => status === 'verified')
		.map(({ type, name, purpose }) => ({ type, name, purpose })),
})

export const listDomains = defineTool({
	name: 'list_domains',
	title: 'List sender domains',
	description:
		'Lists the domains that this project may send from, whether each is verified, and the DNS records that are still missing, with their exact values. Use it before sending from a new address, and when sending is refused because of the domain. check_domain looks at DNS again.',
	annotations: reading,
	input: {},
	async run(_given, { ask, project }) {
		const domains = await ask<Domain[]>('GET', path`/domains/project/${project.publicId}`)
		const verified = domains.filter((domain) => domain.verified).length
		return {
			text: `${counted(domains.length, 'domain')}, ${verified} verified.`,
			data: { domains: domains.map(standOf) },
		}
	},
})

export const checkDomain = defineTool({
	name: 'check_domain',
	title: 'Check the DNS records of a domain',
	description:
		'Looks up the DNS records of a domain now and says which are missing. Use it after someone has set the records; DNS may take some minutes.',
	annotations: { ...saving, openWorldHint: true },
	input: { domainId: about('The domain. list_domains has its id.', Id) },
	async run({ domainId }, { ask }) {
		const domain = await ask<Domain>('GET', path`/domains/${domainId}/verify`)
		const { missing, ...rest } = standOf(domain)
		const lack =
			missing.length === 0 ? 'No record is missing' : `${counted(missing.length, 'record')} missing`
		return {
			text: `The domain is ${domain.verified ? '' : 'not '}verified. ${lack}.`,
			data: { domain: { ...rest, missing } },
		}
	},
})

interface Template {
	id: string
	name: string
	description: string | null
	subject: string
	from: string
	type: string
	updatedAt: string
}

export const listTemplates = defineTool({
	name: 'list_templates',
	title: 'List templates',
	description:
		'Lists stored templates, newest first. Their ids can be given to send_mail and draft_campaign as template.',
	annotations: reading,
	input: {
		search: Type.Optional(
			Type.String({ maxLength: 200, description: 'A part of the name, description or subject.' }),
		),
		type: Type.Optional(about('Only templates of this type.', Type.Enum([...mailTypes]))),
		page: Type.Optional(PageNumber),
	},
	async run(query, { ask }) {
		const found = await ask<Page<Template>>('GET', '/templates', {
			query: { ...query, pageSize: 20 },
		})
		const templates = found.data.map((template) => ({
			...only(template, 'id', 'name', 'description', 'from', 'type', 'updatedAt'),
			subject: briefText(template.subject),
		}))
		const { page, total, totalPages } = found
		return {
			text: `${counted(total, 'template')} found.`,
			data: { templates, page, total, totalPages },
		}
	},
})

interface Day {
	date: string
	emails: number
	delivered: number
	opens: number
	clicks: number
	bounces: number
	complaints: number
}

const total = (days: Day[]) => {
	const sum = { emails: 0, delivered: 0, opens: 0, clicks: 0, bounces: 0, complaints: 0 }
	for (const day of days)
		for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += day[name]
	return sum
}

export const readFigures = defineTool({
	name: 'read_figures',
	title: 'Read figures',
	description:
		'With campaignId: the figures of that campaign (delivered, opened, clicked, bounced, with rates in percent), how far it has come, and what it waits for. Without: mails, opens, clicks, bounces and complaints of the project by day, its best campaigns and its most frequent events, for the last 30 days or a period.',
	annotations: reading,
	input: {
		campaignId: Type.Optional(about('One campaign.', Id)),
		startDate: Type.Optional(Type.String({ description: 'Such as 2026-01-01.' })),
		endDate: Type.Optional(Type.String({ description: 'Such as 2026-01-31, included.' })),
		tz: Type.Optional(
			Type.String({
				description: 'The time zone of the days, such as Europe/Berlin. UTC by default.',
			}),
		),
	},
	async run({ campaignId, ...query }, { ask }) {
		if (campaignId !== undefined) {
			const [stats, progress] = await Promise.all([
				ask<object>('GET', path`/campaigns/${campaignId}/stats`),
				ask<{ waitingFor: { reason: string } | null }>(
					'GET',
					path`/campaigns/${campaignId}/progress`,
				),
			])
			const waits = progress.waitingFor ? ` It waits: ${progress.waitingFor.reason}.` : ''
			return { text: `The figures of the campaign.${waits}`, data: { stats, progress } }
		}
		const [days, campaigns, events] = await Promise.all([
			ask<Day[]>('GET', '/analytics/timeseries', { query }),
			ask<{ subject: string }[]>('GET', '/analytics/top-campaigns', {
				query: { ...query, limit: 5 },
			}),
			ask<object[]>('GET', '/analytics/top-events', { query: { ...query, limit: 10 } }),
		])
		const totals = total(days)
		return {
			text: `${counted(totals.emails, 'mail')} in ${counted(days.length, 'day')}.`,
			data: {
				totals,
				days,
				topCampaigns: campaigns.map((one) => ({ ...one, subject: briefText(one.subject, 200) })),
				topEvents: events,
			},
		}
	},
})
