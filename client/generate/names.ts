/**
 * A method is named after its operation, without the noun of its group: `listContacts` is `contacts.list`.
 * Here are the operations whose name would not read well. A published name never changes.
 */
const exceptions: Record<string, string> = {
	getHealth: 'service.health',
	getConfig: 'service.config',

	sendMail: 'send',
	sendBatch: 'sendBatch',
	track: 'track',
	verifyAddress: 'verify',

	getUser: 'auth.user',
	getUserProjectSecurity: 'projects.userSecurity',
	getProjectSecurity: 'projects.security',
	getSetupState: 'projects.setupState',
	createCheckout: 'billing.createCheckout',
	createBillingPortal: 'billing.createPortal',
	getBillingLimits: 'billing.limits',
	updateBillingLimits: 'billing.updateLimits',
	getBillingConsumption: 'billing.consumption',
	listInvoices: 'billing.invoices',

	createContact: 'contacts.upsert',
	lookUpContacts: 'contacts.lookUp',
	deleteContacts: 'contacts.deleteMany',
	subscribeContacts: 'contacts.subscribeMany',
	unsubscribeContacts: 'contacts.unsubscribeMany',
	importContacts: 'contacts.import',
	getPublicContact: 'publicContacts.get',
	subscribePublicContact: 'publicContacts.subscribe',
	unsubscribePublicContact: 'publicContacts.unsubscribe',
	deleteEvents: 'events.delete',
	listContactEvents: 'events.listOfContact',
	uploadImage: 'uploads.image',

	listActivity: 'activity.list',
	getActivityStats: 'activity.stats',
	listActivityTypes: 'activity.types',
	listUpcomingActivity: 'activity.upcoming',
	countRecentActivity: 'activity.recentCount',
	getTimeseries: 'analytics.timeseries',
	listTopCampaigns: 'analytics.topCampaigns',
	getCampaignAnalytics: 'analytics.campaigns',
	listTopEvents: 'analytics.topEvents',

	getCampaignStats: 'campaigns.stats',
	getCampaignProgress: 'campaigns.progress',
	getTemplateUsage: 'templates.usage',
	getSegmentUsage: 'segments.usage',
	getEventUsage: 'events.usage',
	getEventStats: 'events.stats',

	listExecutions: 'executions.list',
	startExecution: 'executions.start',
	getExecution: 'executions.get',
	cancelExecution: 'executions.cancel',
	cancelExecutions: 'executions.cancelAll',
	retryExecution: 'executions.retry',
	retryExecutions: 'executions.retryFailed',

	listWebhookDeliveries: 'webhookEndpoints.listDeliveries',
	replayWebhooks: 'webhookEndpoints.replay',
	getWebhookReplay: 'webhookEndpoints.getReplay',
	cancelWebhookReplay: 'webhookEndpoints.cancelReplay',
	getWebhookDelivery: 'webhookDeliveries.get',
	retryWebhookDelivery: 'webhookDeliveries.retry',

	receiveBounce: 'providers.bounce',
	receiveResendEvent: 'providers.resendEvent',
	receiveStripeEvent: 'providers.stripeEvent',

	showUnsubscribe: 'pages.unsubscribe',
	unsubscribe: 'pages.confirmUnsubscribe',
	showSubscribe: 'pages.subscribe',
	subscribe: 'pages.confirmSubscribe',
	showManage: 'pages.manage',
	manage: 'pages.saveManage',

	showMailbox: 'mailbox.page',
	listMailboxMessages: 'mailbox.list',
	deleteMailboxMessages: 'mailbox.clear',
	listMailboxSummaries: 'mailbox.listSummaries',
	getMailboxMessage: 'mailbox.get',
	updateMailboxMessage: 'mailbox.update',
	deleteMailboxMessage: 'mailbox.delete',
}

/** `contacts.list`, or one word for a method of the client itself. */
export function nameOf(operationId: string, path: string) {
	const exception = exceptions[operationId]
	if (exception) return exception
	const group = groupOf(path)
	return `${group}.${withoutNoun(operationId, group)}`
}

function groupOf(path: string) {
	if (path.startsWith('/users/@me/projects')) return 'projects'
	return camel(path.split('/')[1]!)
}

function withoutNoun(operationId: string, group: string) {
	const plural = group[0]!.toUpperCase() + group.slice(1)
	const singular = plural.replace(/s$/, '')
	const [noun] = [plural, singular].filter((word) => operationId.includes(word))
	return noun === undefined ? operationId : operationId.replace(noun, '')
}

const camel = (words: string) =>
	words.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
