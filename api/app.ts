import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql'
import Fastify, {
	type FastifyInstance,
	type FastifyRequest,
	type FastifyServerOptions,
} from 'fastify'
import { randomUUID } from 'node:crypto'
import { createDomainChecker, type DomainChecker } from '../outside/domains/checker.ts'
import { createStripe } from '../outside/stripe/client.ts'
import type { Relay } from '../db/outbox/relay.ts'
import { poolOf } from '../db/statement.ts'
import { accountLinks } from './accounts/account-links.ts'
import { accountRequests } from './accounts/account-requests.ts'
import { accounts } from './accounts/accounts.ts'
import { sessionCookie } from './accounts/cookies.ts'
import { localLogin } from './accounts/local-login.ts'
import { oauth } from './accounts/oauth.ts'
import { analytics } from './analytics/analytics.ts'
import { feedFigures } from './analytics/feed-figures.ts'
import { feed } from './analytics/feed.ts'
import { automationChecking } from './automations/automation-checking.ts'
import { automationFields } from './automations/automation-fields.ts'
import { automationList } from './automations/automation-list.ts'
import { automationSteps } from './automations/automation-steps.ts'
import { automationTransitions } from './automations/automation-transitions.ts'
import { automationGraphs } from './automations/automation-graphs.ts'
import { automationVersions } from './automations/automation-versions.ts'
import { automations } from './automations/automations.ts'
import { billingLimits } from './billing/billing-limits.ts'
import { billing } from './billing/billing.ts'
import { invoices } from './billing/invoices.ts'
import { stripeWebhooks } from './billing/stripe-webhooks.ts'
import { campaignAudience } from './campaigns/campaign-audience.ts'
import { campaignChanges } from './campaigns/campaign-changes.ts'
import { campaignFigures } from './campaigns/campaign-figures.ts'
import { campaignResolving } from './campaigns/campaign-resolving.ts'
import { campaignSending } from './campaigns/campaign-sending.ts'
import { campaignTestMail } from './campaigns/campaign-test-mail.ts'
import { campaignTimes } from './campaigns/campaign-timeseries.ts'
import { campaigns } from './campaigns/campaigns.ts'
import { contactFieldUsage } from './contacts/contact-field-usage.ts'
import { contactFields } from './contacts/contact-fields.ts'
import { contactList } from './contacts/contact-list.ts'
import { contactQuery } from './contacts/contact-query.ts'
import { contacts } from './contacts/contacts.ts'
import { publicContacts } from './contacts/public-contacts.ts'
import { consolePages } from './console/console.ts'
import { describeApi } from './docs/docs.ts'
import { serviceCard } from './docs/service-card.ts'
import { serviceConfig } from './docs/service-config.ts'
import { domains } from './domains/domains.ts'
import { emailList } from './emails/email-list.ts'
import { emails } from './emails/emails.ts'
import { resending } from './emails/resending.ts'
import { scheduledMails } from './emails/scheduled-mails.ts'
import { engagements } from './emails/engagements.ts'
import { mailContent } from './emails/mail-content.ts'
import { notFound } from './errors.ts'
import { events } from './events/events.ts'
import { track } from './events/track.ts'
import { contactExecutions } from './executions/contact-executions.ts'
import { executionList } from './executions/execution-list.ts'
import { executions } from './executions/executions.ts'
import { createHealthCheck, health, type HealthOptions } from './health.ts'
import { importList } from './imports/import-list.ts'
import { imports } from './imports/imports.ts'
import { bulkJobs } from './jobs/bulk-jobs.ts'
import { mailbox } from './mailbox/mailbox.ts'
import { mcp } from './mcp/mcp.ts'
import { audit, keepAudit } from './projects/audit.ts'
import { invitations } from './projects/invitations.ts'
import { members } from './projects/members.ts'
import { projectState } from './projects/project-state.ts'
import { projects } from './projects/projects.ts'
import { system } from './projects/system.ts'
import { publicPages } from './public/public.ts'
import { bounces } from './reputation/bounces.ts'
import { suppressions } from './reputation/suppressions.ts'
import { webhooks } from './reputation/webhooks.ts'
import { authenticate } from './requests/auth.ts'
import { parseBodies } from './requests/body.ts'
import { answerConditionally } from './requests/conditional.ts'
import { handleClientError, handleError, handleUnknownRoute } from './requests/error-handler.ts'
import { limitFailures } from './requests/failures.ts'
import { readForwarded } from './requests/forwarded.ts'
import { setHeaders } from './requests/headers.ts'
import { takeNullsForAbsent } from './requests/absent-nulls.ts'
import { keepIdempotency } from './requests/idempotency.ts'
import { createPages, type PageLimits } from './requests/large-pages.ts'
import { logRequests, quietController } from './requests/log.ts'
import { type Capacity, shedLoad } from './requests/overload.ts'
import { writeInPieces } from './requests/pieces.ts'
import { showPublicIds } from './requests/project-ids.ts'
import { limitRate } from './requests/rate-limit.ts'
import { measureRequests } from './requests/request-metrics.ts'
import { traceRequests } from './requests/request-tracing.ts'
import { compilersFactory } from './requests/compilers.ts'
import { segmentComputing } from './segments/segment-computing.ts'
import { segmentMembers } from './segments/segment-members.ts'
import { segmentPreview } from './segments/segment-preview.ts'
import { segmentUsage } from './segments/segment-usage.ts'
import { segments } from './segments/segments.ts'
import { send } from './send/send.ts'
import type { Settings } from './settings.ts'
import { templateList } from './templates/template-list.ts'
import { templateTrying } from './templates/template-trying.ts'
import { templateUses } from './templates/template-uses.ts'
import { templates } from './templates/templates.ts'
import { diskStore, s3Store } from '../outside/storage/image-store.ts'
import { uploads } from './uploads/uploads.ts'
import { verify } from './verify/verify.ts'
import { webhookDeliveries } from './webhook-endpoints/webhook-deliveries.ts'
import { webhookEndpoints } from './webhook-endpoints/webhook-endpoints.ts'
import { webhookReplays } from './webhook-endpoints/webhook-replays.ts'
import { webhookTests } from './webhook-endpoints/webhook-tests.ts'

export interface Services {
	orm: MikroORM
	/** Woken after each commit that left something in the outbox, or sends. */
	relay: Pick<Relay, 'wake' | 'wakeSends'>
	settings: Settings
	checkTemporal: HealthOptions['checkTemporal']
	capacity?: Capacity
	pageLimits?: PageLimits
	/** The longest that an open or click waits for the database. */
	readersPatienceMs?: number
	/** The check for domains; selected by the settings by default. */
	checker?: DomainChecker
	/** The folder with the built console; by default where `npm run build` puts it. */
	consoleFolder?: string
}

declare module 'fastify' {
	interface FastifyInstance {
		relay: Services['relay']
	}
	interface FastifyRequest {
		/** This request's own entity manager, created at its first use. */
		readonly em: EntityManager
		forkedEm: EntityManager | null
	}
}

/** The API as a value: `listen` it, or talk to it through `inject`. */
export async function createApp(services: Services, options: FastifyServerOptions = {}) {
	const { orm, relay, settings, checkTemporal, capacity, pageLimits, readersPatienceMs } = services
	const { publicUrl } = settings
	const pool = await poolOf(orm.em)
	const cookie = sessionCookie(settings)
	orm.config.set('findOneOrFailHandler', recordNotFound)

	const app = Fastify({
		bodyLimit: 2 ** 20,
		// Registering only needs the processor, which may be busy.
		pluginTimeout: 60_000,
		connectionTimeout: 120_000,
		requestTimeout: 120_000,
		http: { headersTimeout: 15_000, connectionsCheckingInterval: 5000 },
		trustProxy: settings.trustProxy,
		return503OnClosing: false,
		routerOptions: { maxParamLength: 1000 },
		genReqId: () => randomUUID(),
		logController: quietController(),
		schemaController: { compilersFactory },
		frameworkErrors: (error, request, reply) => {
			void handleError(error, request, reply.header('x-request-id', request.id))
		},
		clientErrorHandler: handleClientError,
		...options,
	}).withTypeProvider<TypeBoxTypeProvider>()

	app.setErrorHandler(handleError)
	app.setNotFoundHandler(handleUnknownRoute)
	app.decorate('relay', relay)
	decorateEm(app, orm)
	parseBodies(app)
	readForwarded(app)
	logRequests(app)
	if (settings.metrics) measureRequests(app)
	if (settings.tracing) traceRequests(app)
	setHeaders(app, publicUrl)
	shedLoad(app, pool, capacity)
	await describeApi(app, publicUrl)
	const isMailReal = settings.emailProvider !== 'local'
	const sessions = { pool, cookie, ownOrigin: new URL(publicUrl).origin, isMailReal }
	authenticate(app, sessions, limitFailures(app, settings.rateLimitPerMinute))
	showPublicIds(app)
	keepAudit(app, pool)
	limitRate(app, pool, settings.rateLimitPerMinute)
	keepIdempotency(app, pool, settings.idempotencyTtlHours)
	takeNullsForAbsent(app)
	writeInPieces(app)
	answerConditionally(app)

	const sendPage = createPages(pageLimits)
	await app.register(consolePages, {
		folder: services.consoleFolder,
		card: () => serviceCard(publicUrl),
	})
	const checkHealth = createHealthCheck({ pool, checkTemporal })
	await app.register(health, { checkHealth })
	await app.register(serviceConfig, { settings })
	await app.register(accounts, { pool, cookie, settings })
	await app.register(accountRequests, { pool, settings })
	await app.register(accountLinks, { pool, settings })
	await app.register(localLogin, { pool, cookie })
	await app.register(oauth, { pool, cookie, settings })
	await app.register(members, { pool, settings, isMailReal })
	await app.register(invitations, { pool, settings, isMailReal })
	await app.register(audit, { pool })
	await app.register(projectState, { pool })
	await app.register(system, { pool, checkHealth, isMailReal, settings })
	await app.register(projects, { pool, isMailReal })
	await app.register(send, { pool, ...settings })
	await app.register(track, { pool })
	await app.register(verify, { dnsServers: settings.dnsServers })
	await app.register(events, { pool, sendPage })
	await app.register(executionList, { pool, sendPage })
	await app.register(contactExecutions, { pool, sendPage })
	await app.register(executions, { pool })
	await app.register(contactFields, { pool })
	await app.register(contactFieldUsage, { pool })
	await app.register(contactList, { pool })
	await app.register(contactQuery, { pool })
	await app.register(contacts, { pool })
	await app.register(segments, { pool, sendPage })
	await app.register(segmentComputing, { pool })
	await app.register(segmentMembers, { pool })
	await app.register(segmentPreview, { pool })
	await app.register(segmentUsage, { pool })
	await app.register(emailList, { pool, publicUrl })
	await app.register(emails, { pool, publicUrl })
	await app.register(scheduledMails, { pool, publicUrl })
	await app.register(mailContent, { pool, publicUrl })
	await app.register(resending, { pool, ...settings })
	await app.register(suppressions, { pool })
	await app.register(publicPages, { pool })
	await app.register(publicContacts, { pool })
	await app.register(engagements, { pool, patienceMs: readersPatienceMs, ...settings })
	await app.register(templateList, { pool, sendPage })
	await app.register(templates)
	await app.register(templateUses, { pool, publicUrl })
	await app.register(templateTrying, { pool, ...settings })
	await app.register(automationFields, { pool })
	await app.register(automationList, { pool })
	await app.register(automations)
	await app.register(automationChecking, { pool })
	await app.register(automationSteps)
	await app.register(automationTransitions)
	await app.register(automationGraphs)
	await app.register(automationVersions)
	await app.register(campaigns, { pool, sendPage })
	await app.register(campaignChanges, { pool })
	await app.register(campaignSending, { pool, features: settings.features })
	await app.register(campaignResolving, { pool })
	await app.register(campaignFigures, { pool })
	await app.register(campaignTimes, { pool })
	await app.register(campaignAudience, { pool })
	await app.register(campaignTestMail, { pool, ...settings })
	await app.register(feed, { pool })
	await app.register(feedFigures, { pool })
	await app.register(analytics, { pool })
	await app.register(imports, { pool })
	await app.register(importList)
	await app.register(bulkJobs, { pool })
	const images = settings.s3 ? s3Store(settings.s3) : diskStore(settings.uploadsDir)
	const checker = services.checker ?? createDomainChecker(pool, settings.env, settings.dnsServers)
	await app.register(domains, { pool, checker })
	await app.register(uploads, { pool, images, publicUrl })
	await app.register(bounces, { pool })
	await app.register(webhooks, { pool, ...settings })
	await app.register(webhookEndpoints, { pool, ...settings })
	await app.register(webhookDeliveries, { pool })
	await app.register(webhookTests, { pool, ...settings })
	await app.register(webhookReplays, { pool })
	const stripe = settings.stripe && (await createStripe(settings.stripe))
	await app.register(billing, { pool, publicUrl, stripe })
	await app.register(billingLimits, { pool, publicUrl, stripe })
	await app.register(invoices, { pool, publicUrl, stripe })
	await app.register(stripeWebhooks, { pool, ...settings, stripe })
	await app.register(mcp, { pool, ...settings })
	if (settings.emailProvider === 'local') await app.register(mailbox, { pool, sendPage })
	return app
}

function decorateEm(app: FastifyInstance, orm: MikroORM) {
	app.decorateRequest('forkedEm', null)
	app.decorateRequest('em', {
		getter(this: FastifyRequest) {
			return (this.forkedEm ??= orm.em.fork() as EntityManager)
		},
	})
}

/** `findOneOrFail` answers with the entity's own 404. */
function recordNotFound(entity: string, where: unknown) {
	const id = typeof where === 'object' ? (where as { id?: unknown } | null)?.id : where
	// In the code "workflow" means Temporal's; the API's workflows are automations.
	return notFound(entity === 'Automation' ? 'workflow' : entity.toLowerCase(), id)
}
