// Generated from the OpenAPI document by `npm run client`. Do not edit.
import type { ChangeOptions, FileInput, Paged, RequestOptions, WithReact } from './options.ts'

export interface Account {
	id: string
	email: string
}

export interface ActiveRun {
	kind:
		| 'campaign'
		| 'import'
		| 'undo'
		| 'replay'
		| 'bulk'
		| 'enrolment'
		| 'suspension'
		| 'send'
		| 'execution'
	/** Of the campaign, job, workflow, suspension, request or execution */
	id: string
	/** Its name in Temporal */
	workflowId: string
	startedAt: string
	temporalUrl: string | null
}

export interface Activity {
	id: string
	type:
		| 'event.triggered'
		| 'email.sent'
		| 'email.delivered'
		| 'email.received'
		| 'email.opened'
		| 'email.clicked'
		| 'email.bounced'
		| 'email.complaint'
		| 'contact.subscribed'
		| 'contact.unsubscribed'
		| 'email.failed'
		| 'campaign.sent'
		| 'campaign.scheduled'
		| 'workflow.started'
		| 'workflow.completed'
		| 'workflow.email.scheduled'
	timestamp: string
	contactEmail?: string | undefined
	contactId?: string | undefined
	metadata: Record<string, unknown>
}

export interface ActivityStats {
	totalEvents: number
	totalEmailsSent: number
	totalEmailsDelivered: number
	totalEmailsOpened: number
	totalEmailsClicked: number
	/** Permanent bounces */
	totalEmailsBounced: number
	totalEmailsComplained: number
	totalWorkflowsStarted: number
	/** Percent of totalEmailsSent */
	openRate: number
	/** Percent of totalEmailsSent */
	clickRate: number
}

export interface AddressVerdict {
	email: string
	/** False only if mail certainly can’t arrive */
	valid: boolean
	isDisposable: boolean
	/** Whether it belongs to a service that forwards to another mailbox */
	isAlias: boolean
	isTypo: boolean
	isPlusAddressed: boolean
	isPersonalEmail: boolean
	domainExists: boolean
	hasWebsite: boolean
	hasMxRecords: boolean
	suggestedEmail?: string | undefined
	reasons: string[]
}

export interface AnalyticsDay {
	date: string
	emails: number
	opens: number
	clicks: number
	bounces: number
	delivered: number
	complaints: number
}

export interface Attachment {
	/** The name under which the file is saved. */
	filename: string
	/** The file, in base64 */
	content: string
	/** The media type, such as application/pdf. */
	contentType: string
	/** Required for an inline attachment: the HTML refers to it as `cid:…`. */
	contentId?: string | undefined
	/** inline shows the file within the HTML. */
	disposition?: 'attachment' | 'inline' | undefined
}

export interface AuditEntry {
	id: string
	actor: {
		type: 'user' | 'key'
		userId: string | null
		/** The user's address at that time, or the masked key */
		name: string
	}
	/** Method and path, such as POST /templates */
	action: string
	/** The ids in the path */
	target: Record<string, string>
	status: number
	ip: string
	userAgent: string | null
	requestId: string
	createdAt: string
}

export interface BatchResult {
	results: {
		emails: SentMail[]
	}[]
	timestamp: string
}

export interface BillingCategory {
	limit: number | null
	usage: number
	/** Percent of the limit; 0 without a limit */
	percentage: number
	/** True from 80 % */
	isWarning: boolean
	/** True if no more mail is accepted: at 100 %, or when the free mails of the month are used up */
	isBlocked: boolean
}

export interface BillingConsumption {
	period: {
		start: string
		end: string
	}
	usage: {
		total: number
		byCategory: {
			workflows: number
			campaigns: number
			transactional: number
			inbound: number
		}
	}
	upcomingInvoice: {
		/** In the currency's smallest unit */
		amountDue: number
		currency: string
		periodStart: string
		periodEnd: string
	} | null
}

export interface BillingLimits {
	workflows: BillingCategory
	campaigns: BillingCategory
	transactional: BillingCategory
	inbound: BillingCategory
	currency: string
}

export interface BillingLink {
	url: string
}

export interface BoundedCount {
	count: number
	/** Counting ended here: there may be more */
	atLeast: boolean
}

export interface BranchesConfig {
	/** Several branches. */
	mode: 'multi'
	/** The field to compare. Starts with contact., data., event., workflow., execution., steps.. */
	field: string
	/** The first branch that matches is taken. */
	branches: {
		/** The branch of the transition. `default` is taken when no branch matches. */
		id: string
		/** Shown in an editor. */
		name: string
		/** How the field is compared. */
		operator:
			| 'equals'
			| 'notEquals'
			| 'contains'
			| 'notContains'
			| 'greaterThan'
			| 'lessThan'
			| 'greaterThanOrEqual'
			| 'lessThanOrEqual'
			| 'exists'
			| 'notExists'
		/** What the field is compared with. Not needed for exists and notExists. */
		value?: unknown
	}[]
}

export interface BulkJob {
	id: string
	state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled'
	progress: number
	failedReason: string | null
	createdAt: string
	startedAt: string | null
	finishedAt: string | null
	type: 'bulk-subscribe' | 'bulk-unsubscribe' | 'bulk-delete' | 'delete-field'
	/** Null until the job has ended. */
	result: BulkResult | null
}

export interface BulkResult {
	operation: string
	totalRequested: number
	successCount: number
	unchangedCount: number
	failureCount: number
	/** Kept for 90 days */
	errors: {
		contactId: string | null
		email: string | null
		error: string
	}[]
}

export interface BulkSelection {
	/** The default is ids. With query, `filter` selects the contacts. */
	mode?: 'ids' | 'query' | undefined
	/** Required with the mode ids: at most 1,000 contacts. */
	contactIds?: string[] | undefined
	/** Required with the mode query. An empty filter selects every contact. */
	filter?:
		| {
				/** A substring of the address */
				search?: string | undefined
				/** Only contacts who have subscribed, or only those who have not. */
				subscribed?: boolean | undefined
				/** Only members of this segment. */
				segmentId?: string | undefined
				condition?: Condition | undefined
		  }
		| undefined
	/** Contacts that the mode query leaves out. */
	excludeIds?: string[] | undefined
	/** Only for subscribing: the job of a bulk unsubscription that this one takes back. Contacts who have unsubscribed by themselves since then stay unsubscribed. */
	undoes?: string | undefined
}

export interface Campaign {
	id: string
	name: string
	description: string | null
	subject: string
	body: string
	from: string
	fromName: string | null
	replyTo: string | null
	type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
	language: string | null
	templateId: string | null
	status: 'DRAFT' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'CANCELLED'
	audienceType: 'ALL' | 'SEGMENT' | 'FILTERED'
	audienceCondition: Condition | null
	segmentId: string | null
	scheduledFor: string | null
	totalRecipients: number
	sentCount: number
	deliveredCount: number
	openedCount: number
	clickedCount: number
	bouncedCount: number
	complainedCount: number
	unsubscribedCount: number
	failedCount: number
	pausedAt: string | null
	pausedReason: string | null
	cancelledReason: string | null
	projectId: string
	sentAt: string | null
	createdAt: string
	updatedAt: string
}

export interface CampaignAudience {
	count: number | null
	isCounted: boolean
}

/** A campaign was cancelled */
export interface CampaignCancelledWebhook {
	type: 'campaign.cancelled'
	timestamp: string
	data: {
		campaignId: string
		name: string
		subject: string
		totalRecipients: number
		reason: 'OWNER' | 'PROJECT_DISABLED' | null
	}
}

/** All mails of a campaign are settled */
export interface CampaignCompletedWebhook {
	type: 'campaign.completed'
	timestamp: string
	data: {
		campaignId: string
		name: string
		subject: string
		totalRecipients: number
	}
}

/** A campaign was paused */
export interface CampaignPausedWebhook {
	type: 'campaign.paused'
	timestamp: string
	data: {
		campaignId: string
		name: string
		subject: string
		totalRecipients: number
		reason: 'OWNER' | 'BILLING_LIMIT' | 'FAULT' | 'TEMPLATE' | 'SENDER' | null
	}
}

export interface CampaignProgress {
	total: number
	pending: number
	sending: number
	uncertain: number
	sent: number
	failed: number
	skipped: number
	paused: boolean
	ratePerSecond: number
	etaSeconds: number | null
	waitingFor: {
		/** `paused`: by a person, or because of its template, its sender’s domain or a fault. `billing`: by a billing limit. `provider`: it is away, or has deferred the remaining mails. `rate`: by the send rate of the project. */
		reason: 'paused' | 'billing' | 'provider' | 'rate'
		message: string | null
		until: string | null
		mails: number
	} | null
}

export interface CampaignRecipient {
	contactId: string | null
	emailId: string | null
	email: string
	status:
		| 'SCHEDULED'
		| 'PENDING'
		| 'SENDING'
		| 'UNCERTAIN'
		| 'SENT'
		| 'DELIVERED'
		| 'OPENED'
		| 'CLICKED'
		| 'BOUNCED'
		| 'COMPLAINED'
		| 'FAILED'
		| 'SUPPRESSED'
		| 'CANCELLED'
		| 'RECEIVED'
	error: string | null
	sentAt: string | null
	deliveredAt: string | null
	openedAt: string | null
	clickedAt: string | null
	bouncedAt: string | null
	complainedAt: string | null
	unsubscribedAt: string | null
}

/** A campaign started */
export interface CampaignStartedWebhook {
	type: 'campaign.started'
	timestamp: string
	data: {
		campaignId: string
		name: string
		subject: string
		totalRecipients: number
	}
}

export interface CampaignStats {
	totalRecipients: number
	sentCount: number
	deliveredCount: number
	openedCount: number
	clickedCount: number
	bouncedCount: number
	complainedCount: number
	unsubscribedCount: number
	failedCount: number
	/** Percent of sentCount */
	openRate: number
	/** Percent of sentCount */
	clickRate: number
	/** Percent of sentCount */
	bounceRate: number
	/** Percent of sentCount */
	deliveryRate: number
}

export interface CampaignStep {
	at: string
	sent: number
	delivered: number
	opened: number
	clicked: number
	bounced: number
	unsubscribed: number
}

export interface ChangedSegment {
	id: string
	projectId: string
	name: string
	description: string | null
	type: 'DYNAMIC' | 'STATIC'
	condition: Condition | null
	trackMembership: boolean
	memberCount: number
	/** For a tracked dynamic segment: its stored members include all changes up to this time. Null before the first computation, and for other segments. */
	computedAt: string | null
	createdAt: string
	updatedAt: string
	/** Workflows that name events which the segment no longer emits */
	warnings: SegmentWarning[]
}

export interface ChangedWorkflow {
	id: string
	projectId: string
	name: string
	description: string | null
	enabled: boolean
	triggerType: 'EVENT' | 'MANUAL' | 'SCHEDULE'
	triggerConfig: TriggerConfig | null
	allowReentry: boolean
	version: number | null
	createdAt: string
	updatedAt: string
	/** For an enabled workflow: what is probably a mistake */
	warnings: WorkflowWarning[]
}

export interface ComparisonConfig {
	/** The field to compare. Starts with contact., data., event., workflow., execution., steps.. */
	field: string
	/** How the field is compared. */
	operator:
		| 'equals'
		| 'notEquals'
		| 'contains'
		| 'notContains'
		| 'greaterThan'
		| 'lessThan'
		| 'greaterThanOrEqual'
		| 'lessThanOrEqual'
		| 'exists'
		| 'notExists'
	/** What the field is compared with. Not needed for exists and notExists. */
	value?: unknown
}

/** A condition on contacts. Trees nest at most 10 deep and contain at most 100 filters. */
export interface Condition {
	/** AND: a contact must match every group. OR: one group is enough. */
	logic: 'AND' | 'OR'
	/** The groups that `logic` joins. */
	groups: ConditionGroup[]
}

/** One comparison with the branches yes and no, several comparisons with a branch each, or a condition with the branches yes and no. */
export type ConditionConfig = ComparisonConfig | BranchesConfig | Condition

/** Needs at least one filter or a nested condition. */
export interface ConditionGroup {
	/** A contact must match all of them. */
	filters?: Filter[] | undefined
	/** A nested condition, which must match as well. */
	conditions?: Condition | null | undefined
}

/** Chooses a branch by the data of the contact. */
export interface ConditionStep {
	id: string
	workflowId: string
	type: 'CONDITION'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: ConditionConfig | EmptyConfig
	templateId: null
	createdAt: string
	updatedAt: string
}

/** Chooses a branch by the data of the contact. */
export interface ConditionStepWithTransitions {
	id: string
	workflowId: string
	type: 'CONDITION'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: ConditionConfig | EmptyConfig
	templateId: null
	createdAt: string
	updatedAt: string
	/** How many executions are at this step now, in any version. */
	activeExecutions: number
	template: Reference | null
	outgoingTransitions: Transition[]
	incomingTransitions: Transition[]
}

export interface Contact {
	id: string
	email: string
	subscribed: boolean
	data: Record<string, unknown>
	createdAt: string
	updatedAt: string
}

/** A contact was created */
export interface ContactCreatedWebhook {
	type: 'contact.created'
	timestamp: string
	data: {
		contactId: string
		email: string
		subscribed: boolean
		data: Record<string, unknown>
	}
}

/** A contact was deleted */
export interface ContactDeletedWebhook {
	type: 'contact.deleted'
	timestamp: string
	data: {
		contactId: string
		/** `deleted@deleted.invalid` if the person was erased with it. So is the address in all webhooks that wait */
		email: string
	}
}

export interface ContactExecution {
	id: string
	workflowId: string
	/** The version of the workflow that this execution runs */
	version: number
	contactId: string | null
	status: 'RUNNING' | 'WAITING' | 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED'
	currentStepId: string | null
	exitReason: string | null
	error: string | null
	context: Record<string, unknown>
	startedAt: string
	completedAt: string | null
	createdAt: string
	updatedAt: string
	contact: ContactReference | null
	currentStep: StepReference | null
	workflow: Reference
}

export interface ContactReference {
	id: string
	email: string
}

/** A contact subscribed */
export interface ContactSubscribedWebhook {
	type: 'contact.subscribed'
	timestamp: string
	data: {
		/** Null: the contact was deleted */
		contactId: string | null
		/** Null: the contact was deleted */
		email: string | null
	}
}

/** A contact unsubscribed */
export interface ContactUnsubscribedWebhook {
	type: 'contact.unsubscribed'
	timestamp: string
	data: {
		/** Null: the contact was deleted */
		contactId: string | null
		/** Null: the contact was deleted */
		email: string | null
	}
}

/** The address, the subscription or the data of a contact changed */
export interface ContactUpdatedWebhook {
	type: 'contact.updated'
	timestamp: string
	data: {
		contactId: string
		email: string
		subscribed: boolean
		data: Record<string, unknown>
	}
}

export interface CreatedWebhookEndpoint {
	id: string
	url: string
	events: string[]
	description: string | null
	ordering: 'none' | 'email'
	enabled: boolean
	disabledReason: 'OWNER' | 'GONE' | 'FAILING' | null
	disabledAt: string | null
	health: {
		/** `new`: nothing was delivered yet. `failing`: the latest tries failed */
		state: 'new' | 'healthy' | 'failing' | 'disabled'
		lastSuccessAt: string | null
		failingSince: string | null
		failuresInRow: number
		/** Nothing is delivered before: it failed too often, or asked for it by Retry-After */
		restingUntil: string | null
		/** Deliveries that are due or wait for their next try, counted up to 10000 */
		waiting: number
	}
	/** The replay that is under way: `/webhook-endpoints/{id}/replay/{jobId}` shows and cancels it */
	replayJobId: string | null
	createdAt: string
	updatedAt: string
	/** Verifies the signatures (Standard Webhooks). Shown once: store it */
	secret: string
}

export interface DefinedStep {
	id: string
	type:
		| 'TRIGGER'
		| 'SEND_EMAIL'
		| 'DELAY'
		| 'WAIT_FOR_EVENT'
		| 'CONDITION'
		| 'WEBHOOK'
		| 'UPDATE_CONTACT'
		| 'EXIT'
	name: string
	config: Record<string, unknown>
	templateId: string | null
}

export interface DefinedTransition {
	fromStepId: string
	toStepId: string
	branch: string | null
	priority: number
}

/** Waits for a fixed time, at most 365 days. */
export interface DelayConfig {
	/** How many units to wait. At most 365 days. */
	amount: number
	/** The unit of `amount`. */
	unit: 'seconds' | 'minutes' | 'hours' | 'days'
}

/** Waits for a fixed time, at most 365 days. */
export interface DelayStep {
	id: string
	workflowId: string
	type: 'DELAY'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: DelayConfig | EmptyConfig
	templateId: null
	createdAt: string
	updatedAt: string
}

/** Waits for a fixed time, at most 365 days. */
export interface DelayStepWithTransitions {
	id: string
	workflowId: string
	type: 'DELAY'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: DelayConfig | EmptyConfig
	templateId: null
	createdAt: string
	updatedAt: string
	/** How many executions are at this step now, in any version. */
	activeExecutions: number
	template: Reference | null
	outgoingTransitions: Transition[]
	incomingTransitions: Transition[]
}

/** When the mail is sent, and whether again. */
export interface Delivery {
	/** When the mail is to be sent, with a time zone, at most 30 days ahead. A time in the past means now. */
	at?: string | undefined
	/** A duration of at most 30 days, such as 15m, 24h or 7d. Recipients who have been sent the same within it are skipped: the same template, else the same `throttleKey`, else the same subject. */
	throttle?: string | undefined
	/** What `throttle` compares instead of the subject, for a mail without a template. */
	throttleKey?: string | undefined
}

export interface Domain {
	id: string
	domain: string
	verified: boolean
	status: 'pending' | 'verified'
	lastError: string | null
	/** The records to set in DNS. Sending needs DKIM and SPF, and OWNERSHIP where it is listed */
	records: {
		type: 'TXT' | 'CNAME' | 'MX'
		name: string
		value: string
		priority?: number | undefined
		purpose: 'DKIM' | 'SPF' | 'MX' | 'DMARC' | 'OWNERSHIP'
		status: 'pending' | 'verified'
		/** What DNS had there at the last check, at most five answers. Null: DNS did not answer, or was not asked yet */
		found: string[] | null
	}[]
	lastCheckedAt: string | null
	projectId: string
	createdAt: string
	updatedAt: string
}

/** A domain lost its verified status */
export interface DomainFailedWebhook {
	type: 'domain.failed'
	timestamp: string
	data: {
		domainId: string
		domain: string
		/** The reason */
		error: string | null
	}
}

/** A domain is verified: mail can be sent from it */
export interface DomainVerifiedWebhook {
	type: 'domain.verified'
	timestamp: string
	data: {
		domainId: string
		domain: string
	}
}

export interface Email {
	id: string
	projectId: string
	contactId: string | null
	to: string
	toName: string | null
	/** Further readers whom the readers see. */
	cc: EmailCopy[]
	/** Further readers whom the readers do not see. */
	bcc: EmailCopy[]
	from: string
	fromName: string | null
	replyTo: string | null
	subject: string
	body: string | null
	tags: {
		name: string
		value: string
	}[]
	headers: Record<string, string>
	attachments: {
		filename: string
		contentType: string
		size: number
	}[]
	messageId: string | null
	sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
	/** The template may have been deleted since. */
	templateId: string | null
	campaignId: string | null
	workflowExecutionId: string | null
	workflowStepExecutionId: string | null
	status:
		| 'SCHEDULED'
		| 'PENDING'
		| 'SENDING'
		| 'UNCERTAIN'
		| 'SENT'
		| 'DELIVERED'
		| 'OPENED'
		| 'CLICKED'
		| 'BOUNCED'
		| 'COMPLAINED'
		| 'FAILED'
		| 'SUPPRESSED'
		| 'CANCELLED'
		| 'RECEIVED'
	scheduledFor: string | null
	/** Sent again although an earlier attempt may have arrived */
	possibleRepeat: boolean
	error: string | null
	sentAt: string | null
	deliveredAt: string | null
	openedAt: string | null
	clickedAt: string | null
	bouncedAt: string | null
	complainedAt: string | null
	opens: number
	clicks: number
	/** Opens and clicks by machines ahead of the reader; not included in the other counts */
	prefetches: number
	createdAt: string
	updatedAt: string
}

/** The mail bounced. Only a permanent bounce suppresses the address */
export interface EmailBouncedWebhook {
	type: 'email.bounced'
	timestamp: string
	data: {
		emailId: string
		/** Null: the contact was deleted, the mail has none, or the report is about a copy */
		contactId: string | null
		/** The address of the recipient or of the copy */
		email: string
		/** The address that the mail was sent to */
		to: string
		from: string | null
		/** Null: not rendered yet */
		subject: string | null
		sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
		templateId: string | null
		campaignId: string | null
		/** The workflow’s execution that sent it */
		executionId: string | null
		/** Those of the request */
		tags?:
			| {
					name: string
					value: string
			  }[]
			| undefined
		bouncedAt: string
		bounceType: 'Permanent' | 'Transient' | 'Undetermined'
		/** The reason */
		error: string | null
	}
}

/** The mail was not sent, for another reason */
export interface EmailCancelledWebhook {
	type: 'email.cancelled'
	timestamp: string
	data: {
		emailId: string
		/** Null: the contact was deleted, or the mail has none */
		contactId: string | null
		/** The address of the recipient; for `email.received` of the sender */
		email: string
		/** The address that the mail was sent to */
		to: string
		from: string | null
		/** Null: not rendered yet */
		subject: string | null
		sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
		templateId: string | null
		campaignId: string | null
		/** The workflow’s execution that sent it */
		executionId: string | null
		/** Those of the request */
		tags?:
			| {
					name: string
					value: string
			  }[]
			| undefined
		/** The reason */
		error: string | null
	}
}

/** A reader clicked a link of the mail */
export interface EmailClickedWebhook {
	type: 'email.clicked'
	timestamp: string
	data: {
		emailId: string
		/** Null: the contact was deleted, or the mail has none */
		contactId: string | null
		/** The address of the recipient; for `email.received` of the sender */
		email: string
		/** The address that the mail was sent to */
		to: string
		from: string | null
		/** Null: not rendered yet */
		subject: string | null
		sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
		templateId: string | null
		campaignId: string | null
		/** The workflow’s execution that sent it */
		executionId: string | null
		/** Those of the request */
		tags?:
			| {
					name: string
					value: string
			  }[]
			| undefined
		clickedAt: string
		link: string | null
		clicks: number
		isFirstClick: boolean
	}
}

/** The reader reported the mail as spam */
export interface EmailComplainedWebhook {
	type: 'email.complained'
	timestamp: string
	data: {
		emailId: string
		/** Null: the contact was deleted, the mail has none, or the report is about a copy */
		contactId: string | null
		/** The address of the recipient or of the copy */
		email: string
		/** The address that the mail was sent to */
		to: string
		from: string | null
		/** Null: not rendered yet */
		subject: string | null
		sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
		templateId: string | null
		campaignId: string | null
		/** The workflow’s execution that sent it */
		executionId: string | null
		/** Those of the request */
		tags?:
			| {
					name: string
					value: string
			  }[]
			| undefined
		complainedAt: string
	}
}

export interface EmailCopy {
	email: string
	name: string | null
	error: string | null
}

/** The mail was deferred for the first time, and will be tried again */
export interface EmailDelayedWebhook {
	type: 'email.delayed'
	timestamp: string
	data: {
		emailId: string
		/** Null: the contact was deleted, or the mail has none */
		contactId: string | null
		/** The address of the recipient; for `email.received` of the sender */
		email: string
		/** The address that the mail was sent to */
		to: string
		from: string | null
		/** Null: not rendered yet */
		subject: string | null
		sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
		templateId: string | null
		campaignId: string | null
		/** The workflow’s execution that sent it */
		executionId: string | null
		/** Those of the request */
		tags?:
			| {
					name: string
					value: string
			  }[]
			| undefined
		/** The reason */
		error: string | null
	}
}

/** The recipient’s server accepted the mail */
export interface EmailDeliveredWebhook {
	type: 'email.delivered'
	timestamp: string
	data: {
		emailId: string
		/** Null: the contact was deleted, or the mail has none */
		contactId: string | null
		/** The address of the recipient; for `email.received` of the sender */
		email: string
		/** The address that the mail was sent to */
		to: string
		from: string | null
		/** Null: not rendered yet */
		subject: string | null
		sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
		templateId: string | null
		campaignId: string | null
		/** The workflow’s execution that sent it */
		executionId: string | null
		/** Those of the request */
		tags?:
			| {
					name: string
					value: string
			  }[]
			| undefined
		deliveredAt: string
	}
}

/** The mail could not be sent */
export interface EmailFailedWebhook {
	type: 'email.failed'
	timestamp: string
	data: {
		emailId: string
		/** Null: the contact was deleted, or the mail has none */
		contactId: string | null
		/** The address of the recipient; for `email.received` of the sender */
		email: string
		/** The address that the mail was sent to */
		to: string
		from: string | null
		/** Null: not rendered yet */
		subject: string | null
		sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
		templateId: string | null
		campaignId: string | null
		/** The workflow’s execution that sent it */
		executionId: string | null
		/** Those of the request */
		tags?:
			| {
					name: string
					value: string
			  }[]
			| undefined
		/** The reason */
		error: string | null
	}
}

/** A reader opened the mail */
export interface EmailOpenedWebhook {
	type: 'email.opened'
	timestamp: string
	data: {
		emailId: string
		/** Null: the contact was deleted, or the mail has none */
		contactId: string | null
		/** The address of the recipient; for `email.received` of the sender */
		email: string
		/** The address that the mail was sent to */
		to: string
		from: string | null
		/** Null: not rendered yet */
		subject: string | null
		sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
		templateId: string | null
		campaignId: string | null
		/** The workflow’s execution that sent it */
		executionId: string | null
		/** Those of the request */
		tags?:
			| {
					name: string
					value: string
			  }[]
			| undefined
		openedAt: string
		opens: number
		isFirstOpen: boolean
	}
}

export interface EmailParts {
	subject: string
	/** With its layout and footer, and without tracking. */
	html: string
	text: string
	/** As they are sent. Words that are not ASCII are encoded. */
	headers: {
		name: string
		value: string
	}[]
}

/** A mail arrived for a domain of the project */
export interface EmailReceivedWebhook {
	type: 'email.received'
	timestamp: string
	data: {
		emailId: string
		/** Null: the contact was deleted, or the mail has none */
		contactId: string | null
		/** The address of the recipient; for `email.received` of the sender */
		email: string
		/** The address that the mail was sent to */
		to: string
		from: string | null
		/** Null: not rendered yet */
		subject: string | null
		sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
		templateId: string | null
		campaignId: string | null
		/** The workflow’s execution that sent it */
		executionId: string | null
		/** Those of the request */
		tags?:
			| {
					name: string
					value: string
			  }[]
			| undefined
		receivedAt: string
		messageId: string | null
	}
}

/** A mail was accepted for a later time, or moved to another one */
export interface EmailScheduledWebhook {
	type: 'email.scheduled'
	timestamp: string
	data: {
		emailId: string
		/** Null: the contact was deleted, or the mail has none */
		contactId: string | null
		/** The address of the recipient; for `email.received` of the sender */
		email: string
		/** The address that the mail was sent to */
		to: string
		from: string | null
		/** Null: not rendered yet */
		subject: string | null
		sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
		templateId: string | null
		campaignId: string | null
		/** The workflow’s execution that sent it */
		executionId: string | null
		/** Those of the request */
		tags?:
			| {
					name: string
					value: string
			  }[]
			| undefined
		scheduledFor: string
	}
}

/** The provider accepted the mail */
export interface EmailSentWebhook {
	type: 'email.sent'
	timestamp: string
	data: {
		emailId: string
		/** Null: the contact was deleted, or the mail has none */
		contactId: string | null
		/** The address of the recipient; for `email.received` of the sender */
		email: string
		/** The address that the mail was sent to */
		to: string
		from: string | null
		/** Null: not rendered yet */
		subject: string | null
		sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
		templateId: string | null
		campaignId: string | null
		/** The workflow’s execution that sent it */
		executionId: string | null
		/** Those of the request */
		tags?:
			| {
					name: string
					value: string
			  }[]
			| undefined
		sentAt: string
	}
}

/** The mail was not sent, because its address is on the suppression list */
export interface EmailSuppressedWebhook {
	type: 'email.suppressed'
	timestamp: string
	data: {
		emailId: string
		/** Null: the contact was deleted, or the mail has none */
		contactId: string | null
		/** The address of the recipient; for `email.received` of the sender */
		email: string
		/** The address that the mail was sent to */
		to: string
		from: string | null
		/** Null: not rendered yet */
		subject: string | null
		sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
		templateId: string | null
		campaignId: string | null
		/** The workflow’s execution that sent it */
		executionId: string | null
		/** Those of the request */
		tags?:
			| {
					name: string
					value: string
			  }[]
			| undefined
		/** The reason */
		error: string | null
	}
}

/** It is not known whether the mail was sent */
export interface EmailUncertainWebhook {
	type: 'email.uncertain'
	timestamp: string
	data: {
		emailId: string
		/** Null: the contact was deleted, or the mail has none */
		contactId: string | null
		/** The address of the recipient; for `email.received` of the sender */
		email: string
		/** The address that the mail was sent to */
		to: string
		from: string | null
		/** Null: not rendered yet */
		subject: string | null
		sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
		templateId: string | null
		campaignId: string | null
		/** The workflow’s execution that sent it */
		executionId: string | null
		/** Those of the request */
		tags?:
			| {
					name: string
					value: string
			  }[]
			| undefined
		/** The reason */
		error: string | null
	}
}

export interface EmailWithAttempts {
	id: string
	projectId: string
	contactId: string | null
	to: string
	toName: string | null
	/** Further readers whom the readers see. */
	cc: EmailCopy[]
	/** Further readers whom the readers do not see. */
	bcc: EmailCopy[]
	from: string
	fromName: string | null
	replyTo: string | null
	subject: string
	body: string | null
	tags: {
		name: string
		value: string
	}[]
	headers: Record<string, string>
	attachments: {
		filename: string
		contentType: string
		size: number
	}[]
	messageId: string | null
	sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND'
	/** The template may have been deleted since. */
	templateId: string | null
	campaignId: string | null
	workflowExecutionId: string | null
	workflowStepExecutionId: string | null
	status:
		| 'SCHEDULED'
		| 'PENDING'
		| 'SENDING'
		| 'UNCERTAIN'
		| 'SENT'
		| 'DELIVERED'
		| 'OPENED'
		| 'CLICKED'
		| 'BOUNCED'
		| 'COMPLAINED'
		| 'FAILED'
		| 'SUPPRESSED'
		| 'CANCELLED'
		| 'RECEIVED'
	scheduledFor: string | null
	/** Sent again although an earlier attempt may have arrived */
	possibleRepeat: boolean
	error: string | null
	sentAt: string | null
	deliveredAt: string | null
	openedAt: string | null
	clickedAt: string | null
	bouncedAt: string | null
	complainedAt: string | null
	opens: number
	clicks: number
	/** Opens and clicks by machines ahead of the reader; not included in the other counts */
	prefetches: number
	createdAt: string
	updatedAt: string
	text: string | null
	attempts: {
		at: string
		outcome: 'SENT' | 'REJECTED' | 'DEFERRED' | 'UNAVAILABLE' | 'UNKNOWN' | 'OPEN'
		provider: string | null
		providerMessageId: string | null
		error: string | null
	}[]
	/** What happened after it left, the first of it first, at most 100. Opens and clicks by machines are left out. */
	engagements: {
		type: 'delivery' | 'open' | 'click' | 'bounce' | 'complaint' | 'unsubscribe'
		at: string
		/** The link that was clicked. */
		link: string | null
	}[]
}

/** The step is not configured yet. */
export type EmptyConfig = Record<string, never>

export type ErrorCode =
	| 'BAD_REQUEST'
	| 'VALIDATION_ERROR'
	| 'INVALID_API_KEY'
	| 'UNAUTHORIZED'
	| 'INVALID_CREDENTIALS'
	| 'FORBIDDEN'
	| 'PROJECT_DISABLED'
	| 'PROJECT_ACCESS_DENIED'
	| 'EMAIL_VERIFICATION_REQUIRED'
	| 'RESOURCE_NOT_FOUND'
	| 'CONTACT_NOT_FOUND'
	| 'TEMPLATE_NOT_FOUND'
	| 'CAMPAIGN_NOT_FOUND'
	| 'WORKFLOW_NOT_FOUND'
	| 'CONFLICT'
	| 'IDEMPOTENCY_KEY_REUSED'
	| 'RATE_LIMIT_EXCEEDED'
	| 'BILLING_LIMIT_EXCEEDED'
	| 'INTERNAL_SERVER_ERROR'
	| 'DATABASE_ERROR'
	| 'EXTERNAL_SERVICE_ERROR'

export interface ErrorResponse {
	success: false
	error: {
		code: ErrorCode
		message: string
		statusCode: number
		requestId: string
		errors?: FieldError[] | undefined
		details?: Record<string, unknown> | undefined
		suggestion?: string | undefined
	}
	timestamp: string
}

export interface Event {
	id: string
	name: string
	data: Record<string, unknown>
	contactId: string | null
	emailId: string | null
	createdAt: string
}

/** For triggerType EVENT. */
export interface EventTrigger {
	/** The name of the event. Names of the service’s own events are reserved. */
	eventName: string
}

export interface EventUsage {
	usedInSegments: Reference[]
	/** Campaigns that have not ended */
	usedInCampaigns: Reference[]
	usedInWorkflows: Reference[]
	totalCount: number
	uniqueContacts: number
	canDelete: boolean
}

/** An event was tracked. The type ends with its name */
export interface EventWebhook {
	type: `event.${string}`
	timestamp: string
	data: {
		eventId: string
		name: string
		/** Null: the contact was deleted */
		contactId: string | null
		/** Null: the contact was deleted */
		email: string | null
		emailId: string | null
		/** The data that was tracked with it */
		data: Record<string, unknown>
	}
}

export interface EventWithContact {
	id: string
	name: string
	data: Record<string, unknown>
	contactId: string | null
	emailId: string | null
	createdAt: string
	contact: ContactReference | null
}

export interface Execution {
	id: string
	workflowId: string
	/** The version of the workflow that this execution runs */
	version: number
	contactId: string | null
	status: 'RUNNING' | 'WAITING' | 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED'
	currentStepId: string | null
	exitReason: string | null
	error: string | null
	context: Record<string, unknown>
	startedAt: string
	completedAt: string | null
	createdAt: string
	updatedAt: string
}

/** An execution was cancelled */
export interface ExecutionCancelledWebhook {
	type: 'execution.cancelled'
	timestamp: string
	data: {
		executionId: string
		workflowId: string
		workflowName: string
		/** Null: the contact was deleted */
		contactId: string | null
		/** Null: the contact was deleted */
		email: string | null
		exitReason: string | null
	}
}

/** An execution reached its end or an exit step */
export interface ExecutionCompletedWebhook {
	type: 'execution.completed'
	timestamp: string
	data: {
		executionId: string
		workflowId: string
		workflowName: string
		/** Null: the contact was deleted */
		contactId: string | null
		/** Null: the contact was deleted */
		email: string | null
		exitReason: string | null
	}
}

/** An execution failed */
export interface ExecutionFailedWebhook {
	type: 'execution.failed'
	timestamp: string
	data: {
		executionId: string
		workflowId: string
		workflowName: string
		/** Null: the contact was deleted */
		contactId: string | null
		/** Null: the contact was deleted */
		email: string | null
		/** The reason */
		error: string | null
	}
}

/** A contact entered a workflow */
export interface ExecutionStartedWebhook {
	type: 'execution.started'
	timestamp: string
	data: {
		executionId: string
		workflowId: string
		workflowName: string
		/** Null: the contact was deleted */
		contactId: string | null
		/** Null: the contact was deleted */
		email: string | null
	}
}

export interface ExecutionWithSteps {
	id: string
	workflowId: string
	/** The version of the workflow that this execution runs */
	version: number
	contactId: string | null
	status: 'RUNNING' | 'WAITING' | 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED'
	currentStepId: string | null
	exitReason: string | null
	error: string | null
	context: Record<string, unknown>
	startedAt: string
	completedAt: string | null
	createdAt: string
	updatedAt: string
	contact: ContactReference | null
	currentStep: StepReference | null
	workflow: Reference
	/** The latest 1,000 in order, or fewer if their outputs exceed 4 MB */
	stepExecutions: StepExecution[]
}

/** Ends the execution. */
export interface ExitConfig {
	/** Shown as `exitReason` of the execution. */
	reason?: string | null | undefined
}

/** Ends the execution. */
export interface ExitStep {
	id: string
	workflowId: string
	type: 'EXIT'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: ExitConfig | EmptyConfig
	templateId: null
	createdAt: string
	updatedAt: string
}

/** Ends the execution. */
export interface ExitStepWithTransitions {
	id: string
	workflowId: string
	type: 'EXIT'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: ExitConfig | EmptyConfig
	templateId: null
	createdAt: string
	updatedAt: string
	/** How many executions are at this step now, in any version. */
	activeExecutions: number
	template: Reference | null
	outgoingTransitions: Transition[]
	incomingTransitions: Transition[]
}

export interface Feature {
	enabled: boolean
}

export interface FieldError {
	/** Dots separate the parts of a path */
	field: string
	message: string
	code:
		| 'required'
		| 'invalid_type'
		| 'invalid_string'
		| 'too_small'
		| 'too_big'
		| 'invalid_enum_value'
		| 'unrecognized_keys'
		| 'invalid_union'
		| 'custom'
		| 'reserved_event'
		| 'template_syntax'
	received?: unknown
	/** Where a template cannot be read, from 1 */
	line?: number | undefined
	/** The place in its line, from 1 */
	column?: number | undefined
}

/** One test of one field. The operator decides what else it takes. */
export type Filter = ValueFilter | StateFilter | TimeFilter

export interface GraphStep {
	/** The id of a step of this workflow, or a new UUID for a new step. */
	id: string
	/** Can’t be changed. */
	type:
		| 'TRIGGER'
		| 'SEND_EMAIL'
		| 'DELAY'
		| 'WAIT_FOR_EVENT'
		| 'CONDITION'
		| 'WEBHOOK'
		| 'UPDATE_CONTACT'
		| 'EXIT'
	/** The name of the step. */
	name: string
	/** Where an editor draws the step. */
	position?:
		| {
				/** The distance from the left. */
				x: number
				/** The distance from the top. */
				y: number
		  }
		| undefined
	/** The configuration for its type. See POST /workflows/{id}/steps. */
	config?: Record<string, unknown> | undefined
	/** The template to send. For SEND_EMAIL only. */
	templateId?: string | null | undefined
}

export interface GraphTransition {
	/** The step where it starts. */
	fromStepId: string
	/** The step where it ends. */
	toStepId: string
	/** Required for a CONDITION. For a WAIT_FOR_EVENT, the default is event. */
	branch?: string | null | undefined
}

export interface Health {
	status: 'ok' | 'degraded' | 'unavailable'
	checks: {
		database: 'ok' | 'away'
		temporal: 'ok' | 'away'
		worker: 'ok' | 'away'
		provider: 'ok' | 'away'
	}
	/** The mail provider, when it has taken no mail for a minute */
	provider: {
		name: string
		awaySince: string
		/** Its last answer, without addresses */
		answer: string
	} | null
}

export interface ImportCounts {
	totalRows: number
	successCount: number
	createdCount: number
	updatedCount: number
	failureCount: number
}

export interface ImportJob {
	id: string
	state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled'
	progress: number
	failedReason: string | null
	createdAt: string
	startedAt: string | null
	finishedAt: string | null
	fileName: string | null
	type: 'import' | 'undo'
	/** Null until the job has ended. */
	result: ImportResult | UndoResult | null
	/** The job that undoes, or has undone, this import. */
	undo: {
		jobId: string
		state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled'
	} | null
}

export interface ImportResult {
	totalRows: number
	successCount: number
	createdCount: number
	updatedCount: number
	failureCount: number
	/** The first 1,000; all of them at /contacts/import/{jobId}/errors. Kept for 90 days */
	errors: {
		row: number
		email: string | null
		error: string
	}[]
}

export interface Invitation {
	invited: true
	email: string
	role: 'MEMBER' | 'ADMIN'
}

export interface Invoices {
	invoices: {
		id: string
		number: string | null
		status: string | null
		amountDue: number
		amountPaid: number
		currency: string
		created: string
		periodStart: string
		periodEnd: string
		hostedInvoiceUrl: string | null
		invoicePdf: string | null
		total: number
		paid: boolean
	}[]
	hasUnpaidInvoices: boolean
}

export interface ListedExecution {
	id: string
	workflowId: string
	/** The version of the workflow that this execution runs */
	version: number
	contactId: string | null
	status: 'RUNNING' | 'WAITING' | 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED'
	currentStepId: string | null
	exitReason: string | null
	error: string | null
	context: Record<string, unknown>
	startedAt: string
	completedAt: string | null
	createdAt: string
	updatedAt: string
	contact: ContactReference | null
	currentStep: StepReference | null
}

export interface ListedImport {
	id: string
	state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled'
	progress: number
	failedReason: string | null
	createdAt: string
	startedAt: string | null
	finishedAt: string | null
	fileName: string | null
	/** Null until the job has ended. */
	result: ImportCounts | null
	/** The job that undoes, or has undone, this import. */
	undo: {
		jobId: string
		state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled'
	} | null
}

export interface ListedWorkflow {
	id: string
	projectId: string
	name: string
	description: string | null
	enabled: boolean
	triggerType: 'EVENT' | 'MANUAL' | 'SCHEDULE'
	triggerConfig: TriggerConfig | null
	allowReentry: boolean
	version: number | null
	createdAt: string
	updatedAt: string
	_count: {
		steps: number
		executions: number
		/** Executions that have not ended. */
		active: number
	}
}

export interface ListedWorkflowVersion {
	version: number
	createdAt: string
	/** SHA-256 of the definition */
	hash: string
	/** How many executions of this version have not ended. */
	activeExecutions: number
}

export interface MailAddress {
	/** The name beside the address. */
	name?: string | undefined
	/** The address. */
	email: string
}

export interface MailboxMail {
	id: string
	emailId: string
	to: string
	/** The addresses of copies */
	cc: string[]
	/** The addresses of blind copies, which the mail itself does not name */
	bcc: string[]
	from: string
	subject: string
	html: string
	text: string
	headers: Record<string, string>
	attachments: {
		filename: string
		contentType: string
		size: number
	}[]
	read: boolean
	receivedAt: string
	/** Whether loading its images counts an open */
	opensTracked: boolean
	/** Whether following its links counts a click */
	clicksTracked: boolean
}

export interface MailboxMessage {
	id: string
	emailId: string
	to: string
	/** The addresses of copies */
	cc: string[]
	/** The addresses of blind copies, which the mail itself does not name */
	bcc: string[]
	from: string
	subject: string
	html: string
	text: string
	headers: Record<string, string>
	attachments: {
		filename: string
		contentType: string
		size: number
	}[]
	read: boolean
	receivedAt: string
}

export interface MailboxSummary {
	id: string
	emailId: string
	to: string
	from: string
	subject: string
	read: boolean
	receivedAt: string
}

/** For triggerType MANUAL. */
export type ManualTrigger = Record<string, never>

export interface MatchedBounce {
	emailId: string
	event: 'bounce' | 'complaint' | 'delivery'
	bounceType: 'Permanent' | 'Transient' | 'Undetermined' | null
}

export interface Member {
	userId: string
	email: string
	role: 'MEMBER' | 'ADMIN' | 'OWNER'
	createdAt: string
}

export interface Message {
	message: string
}

/** Chooses a branch by the data of the contact. */
export interface NewConditionStep {
	/** Chooses a branch by the data of the contact. */
	type: 'CONDITION'
	/** Shown in lists. */
	name: string
	/** Where an editor draws the step. Without it, below the others. */
	position?:
		| {
				/** The distance from the left. */
				x: number
				/** The distance from the top. */
				y: number
		  }
		| undefined
	config?: ConditionConfig | undefined
	/** Link the newest step without an outgoing transition to this one. The default is true. */
	autoConnect?: boolean | undefined
}

/** Waits for a fixed time, at most 365 days. */
export interface NewDelayStep {
	/** Waits for a fixed time, at most 365 days. */
	type: 'DELAY'
	/** Shown in lists. */
	name: string
	/** Where an editor draws the step. Without it, below the others. */
	position?:
		| {
				/** The distance from the left. */
				x: number
				/** The distance from the top. */
				y: number
		  }
		| undefined
	config?: DelayConfig | undefined
	/** Link the newest step without an outgoing transition to this one. The default is true. */
	autoConnect?: boolean | undefined
}

export interface NewEvent {
	/** The name of the event. Names of the service’s own events are reserved. */
	name: string
	/** The contact that the event is about. */
	contactId?: string | null | undefined
	/** The mail that the event is about. */
	emailId?: string | null | undefined
	/** Stored with the event. */
	data?: Record<string, unknown> | undefined
}

/** Ends the execution. */
export interface NewExitStep {
	/** Ends the execution. */
	type: 'EXIT'
	/** Shown in lists. */
	name: string
	/** Where an editor draws the step. Without it, below the others. */
	position?:
		| {
				/** The distance from the left. */
				x: number
				/** The distance from the top. */
				y: number
		  }
		| undefined
	config?: ExitConfig | undefined
	/** Link the newest step without an outgoing transition to this one. The default is true. */
	autoConnect?: boolean | undefined
}

/** Sends a template to the contact, or to an address of your choice. */
export interface NewSendEmailStep {
	/** Sends a template to the contact, or to an address of your choice. */
	type: 'SEND_EMAIL'
	/** Shown in lists. */
	name: string
	/** Where an editor draws the step. Without it, below the others. */
	position?:
		| {
				/** The distance from the left. */
				x: number
				/** The distance from the top. */
				y: number
		  }
		| undefined
	config?: SendEmailConfig | undefined
	/** The template to send. A step without one can’t be enabled. */
	templateId?: string | null | undefined
	/** Link the newest step without an outgoing transition to this one. The default is true. */
	autoConnect?: boolean | undefined
}

/** A step to add. Its type never changes. */
export type NewStep =
	| NewSendEmailStep
	| NewDelayStep
	| NewWaitForEventStep
	| NewConditionStep
	| NewWebhookStep
	| NewUpdateContactStep
	| NewExitStep

/** Changes the data or the subscription of the contact. */
export interface NewUpdateContactStep {
	/** Changes the data or the subscription of the contact. */
	type: 'UPDATE_CONTACT'
	/** Shown in lists. */
	name: string
	/** Where an editor draws the step. Without it, below the others. */
	position?:
		| {
				/** The distance from the left. */
				x: number
				/** The distance from the top. */
				y: number
		  }
		| undefined
	config?: UpdateContactConfig | undefined
	/** Link the newest step without an outgoing transition to this one. The default is true. */
	autoConnect?: boolean | undefined
}

/** Waits for an event of the contact, and continues by `event` or `timeout`. */
export interface NewWaitForEventStep {
	/** Waits for an event of the contact, and continues by `event` or `timeout`. */
	type: 'WAIT_FOR_EVENT'
	/** Shown in lists. */
	name: string
	/** Where an editor draws the step. Without it, below the others. */
	position?:
		| {
				/** The distance from the left. */
				x: number
				/** The distance from the top. */
				y: number
		  }
		| undefined
	config?: WaitForEventConfig | undefined
	/** Link the newest step without an outgoing transition to this one. The default is true. */
	autoConnect?: boolean | undefined
}

/** Calls a URL of yours. */
export interface NewWebhookStep {
	/** Calls a URL of yours. */
	type: 'WEBHOOK'
	/** Shown in lists. */
	name: string
	/** Where an editor draws the step. Without it, below the others. */
	position?:
		| {
				/** The distance from the left. */
				x: number
				/** The distance from the top. */
				y: number
		  }
		| undefined
	config?: WebhookConfig | undefined
	/** Link the newest step without an outgoing transition to this one. The default is true. */
	autoConnect?: boolean | undefined
}

export interface PendingInvitation {
	id: string
	email: string
	role: 'MEMBER' | 'ADMIN'
	/** The address of the member who sent it last */
	invitedBy: string
	createdAt: string
	expiresAt: string
}

export interface Project {
	id: string
	name: string
	public: string
	/** In full when it was just created, otherwise masked except for the last four characters */
	secret: string
	role: 'MEMBER' | 'ADMIN' | 'OWNER'
	disabled: boolean
	disabledReason: 'PAYMENT_FAILED' | 'EMAIL_REPUTATION' | 'MANUAL' | null
	tracking: 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY'
	language: string
	postalAddress: string | null
	sendRatePerSecond: number | null
	createdAt: string
	updatedAt: string
}

export interface ProjectSecurity {
	status: {
		projectId: string
		isHealthy: boolean
		shouldDisable: boolean
		twentyFourHour: ReputationWindow
		sevenDay: ReputationWindow
		allTime: ReputationWindow
		isNewProject: boolean
		violations: string[]
		warnings: string[]
	}
	levels: {
		bounce7Day: 'healthy' | 'warning' | 'critical'
		bounceAllTime: 'healthy' | 'warning' | 'critical'
		complaint7Day: 'healthy' | 'warning' | 'critical'
		complaintAllTime: 'healthy' | 'warning' | 'critical'
	}
	isDisabled: boolean
	recentSuspensions: {
		at: string
		reason: string
		liftedAt: string | null
	}[]
}

/** The project was disabled: it sends nothing */
export interface ProjectSuspendedWebhook {
	type: 'project.suspended'
	timestamp: string
	data: {
		projectId: string
		reason: 'PAYMENT_FAILED' | 'EMAIL_REPUTATION' | 'MANUAL'
	}
}

export interface PublicContact {
	id: string
	email: string
	subscribed: boolean
}

export interface ReceivedEvent {
	received: true
	/** The event was received before; nothing was done */
	duplicate: boolean
}

export interface Reference {
	id: string
	name: string
}

export interface ReputationWindow {
	total: number
	bounces: number
	complaints: number
	/** In percent */
	bounceRate: number
	/** In percent */
	complaintRate: number
}

export interface ResentEmail {
	id: string
	status: 'PENDING'
}

export interface RotatedWebhookSecret {
	/** Verifies the signatures (Standard Webhooks). Shown once: store it */
	secret: string
}

/** For triggerType SCHEDULE. */
export interface ScheduleTrigger {
	/** A cron expression with five fields. */
	schedule: string
	/** An IANA time zone. UTC unless you set one. */
	timezone?: string | null | undefined
	/** Start executions for the members of this segment only. */
	segmentId?: string | null | undefined
}

export interface SecuredAccount {
	message: string
	/** Present if the address was not verified before: how many projects of the account got new keys and lost their other members. Their webhook endpoints are disabled, and so are workflows that send data of contacts to other addresses */
	securedProjects?: number | undefined
}

export interface Segment {
	id: string
	projectId: string
	name: string
	description: string | null
	type: 'DYNAMIC' | 'STATIC'
	condition: Condition | null
	trackMembership: boolean
	memberCount: number
	/** For a tracked dynamic segment: its stored members include all changes up to this time. Null before the first computation, and for other segments. */
	computedAt: string | null
	createdAt: string
	updatedAt: string
}

/** A contact became a member of a segment whose memberships are tracked */
export interface SegmentEnteredWebhook {
	type: 'segment.entered'
	timestamp: string
	data: {
		/** Null: the contact was deleted */
		contactId: string | null
		/** Null: the contact was deleted */
		email: string | null
		segmentId: string
		segmentName: string
	}
}

/** A contact is no longer a member of a segment whose memberships are tracked */
export interface SegmentLeftWebhook {
	type: 'segment.left'
	timestamp: string
	data: {
		/** Null: the contact was deleted */
		contactId: string | null
		/** Null: the contact was deleted */
		email: string | null
		segmentId: string
		segmentName: string
	}
}

export interface SegmentPreview {
	count: number | null
	isCounted: boolean
	/** The newest of them, at most ten. */
	sample: Contact[]
}

export interface SegmentUsage {
	segments: Reference[]
	campaigns: Reference[]
	workflows: Reference[]
}

export interface SegmentWarning {
	workflowId: string
	name: string
	message: string
}

/** Sends a template to the contact, or to an address of your choice. */
export interface SendEmailConfig {
	/** Another way to give the template of the step. */
	templateId?: string | null | undefined
	/** The contact, unless you set it. */
	recipient?:
		| {
				/** CONTACT: the contact of the execution. CUSTOM: another address. */
				type: 'CONTACT' | 'CUSTOM'
				/** An address, or a Liquid template of one. Required with CUSTOM. */
				customEmail?: string | null | undefined
		  }
		| null
		| undefined
}

/** Sends a template to the contact, or to an address of your choice. */
export interface SendEmailStep {
	id: string
	workflowId: string
	type: 'SEND_EMAIL'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: SendEmailConfig | EmptyConfig
	/** The template to send. A step without one can’t be enabled. */
	templateId: string | null
	createdAt: string
	updatedAt: string
}

/** Sends a template to the contact, or to an address of your choice. */
export interface SendEmailStepWithTransitions {
	id: string
	workflowId: string
	type: 'SEND_EMAIL'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: SendEmailConfig | EmptyConfig
	/** The template to send. A step without one can’t be enabled. */
	templateId: string | null
	createdAt: string
	updatedAt: string
	/** How many executions are at this step now, in any version. */
	activeExecutions: number
	template: Reference | null
	outgoingTransitions: Transition[]
	incomingTransitions: Transition[]
}

export interface SendResult {
	emails: SentMail[]
	timestamp: string
}

export interface Sender {
	/** The name beside the address. */
	name?: string | null | undefined
	/** The address. */
	email: string
}

export interface SendingReason {
	code:
		| 'PROJECT_DISABLED'
		| 'OWNER_UNVERIFIED'
		| 'TEMPORAL_AWAY'
		| 'WORKER_AWAY'
		| 'PROVIDER_AWAY'
		| 'LIMIT_REACHED'
		| 'SEND_RATE'
	message: string
}

export interface SendingState {
	/** `slowed`: some mail waits longer than usual. `paused`: no mail is sent */
	state: 'normal' | 'slowed' | 'paused'
	reasons: SendingReason[]
}

export interface SentCampaign {
	success: true
	message: string
	data: {
		id: string
		name: string
		status: 'DRAFT' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'CANCELLED'
		scheduledFor: string | null
		warnings: string[]
	}
}

export interface SentMail {
	contact: ContactReference
	email: string
	/** SCHEDULED: the mail waits for its time. THROTTLED: the recipient is skipped, and `email` is the earlier mail. Absent: the mail is sent now. */
	status?: 'SCHEDULED' | 'THROTTLED' | undefined
	scheduledFor?: string | undefined
}

export interface ServiceConfig {
	environment: string
	urls: {
		api: string
		dashboard: string
	}
	features: {
		billing: Feature
		storage: Feature
		mailbox: Feature
		authProviders: {
			github: boolean
			google: boolean
		}
		signup: {
			signupsDisabled: boolean
		}
		email: {
			provider: string
			trackingToggleEnabled: boolean
		}
	}
}

export interface SetupState {
	hasSubscription: boolean
	hasVerifiedDomain: boolean
	/** For the footer of MARKETING mail */
	hasPostalAddress: boolean
	contactCount: number
	lastCampaignSentAt: string | null
	hasEnabledWorkflow: boolean
}

export interface SimpleError {
	error: string
}

/** Tests a field without a value. */
export interface StateFilter {
	/** `email`, `subscribed`, `createdAt`, `updatedAt`, `data.<path>`, `event.<name>`, `email.<activity>` or `segment.<id>`. Dots in a path reach into objects. An activity is sent, delivered, opened, clicked, bounced or complained. */
	field: string
	/** The operators that fit depend on the field. */
	operator:
		| 'exists'
		| 'notExists'
		| 'triggered'
		| 'notTriggered'
		| 'memberOfSegment'
		| 'notMemberOfSegment'
	/** Ignored by these operators. */
	value?: unknown
	/** Ignored by these operators. */
	unit?: string | null | undefined
}

/** A step of a workflow. */
export type Step =
	| TriggerStep
	| SendEmailStep
	| DelayStep
	| WaitForEventStep
	| ConditionStep
	| WebhookStep
	| UpdateContactStep
	| ExitStep

/** The configuration of a step. Which form applies depends on the type of the step. */
export type StepConfig =
	| SendEmailConfig
	| DelayConfig
	| WaitForEventConfig
	| ConditionConfig
	| WebhookConfig
	| UpdateContactConfig
	| ExitConfig

export interface StepExecution {
	id: string
	stepId: string
	step: StepReference | null
	status: 'PENDING' | 'RUNNING' | 'WAITING' | 'COMPLETED' | 'SKIPPED' | 'FAILED'
	output: Record<string, unknown> | null
	/** Why the step failed. While a WEBHOOK step is being retried, why its latest call failed. */
	error: string | null
	/** For a WEBHOOK step: how many calls have ended so far. Null if there is none yet, and for other steps. */
	attempts: number | null
	startedAt: string
	completedAt: string | null
	wakesAt: string | null
}

export interface StepPassage {
	stepId: string
	/** How many have been at the step. */
	entered: number
	/** How many have completed it. */
	passed: number
	/** How many have failed at it. */
	failed: number
}

export interface StepReference {
	id: string
	name: string
	type:
		| 'TRIGGER'
		| 'SEND_EMAIL'
		| 'DELAY'
		| 'WAIT_FOR_EVENT'
		| 'CONDITION'
		| 'WEBHOOK'
		| 'UPDATE_CONTACT'
		| 'EXIT'
}

/** A step with the transitions to and from it. */
export type StepWithTransitions =
	| TriggerStepWithTransitions
	| SendEmailStepWithTransitions
	| DelayStepWithTransitions
	| WaitForEventStepWithTransitions
	| ConditionStepWithTransitions
	| WebhookStepWithTransitions
	| UpdateContactStepWithTransitions
	| ExitStepWithTransitions

export interface Suppression {
	email: string
	reason: 'BOUNCE' | 'COMPLAINT' | 'MANUAL' | 'UNSUBSCRIBED_ALL'
	emailId: string | null
	createdAt: string
}

export interface System {
	health: Health
	sending: SendingState
	provider: {
		name: string
		awaySince: string | null
		answer: string | null
	}
	backlog: {
		waiting: BoundedCount
		oldestWaitingSince: string | null
		sending: BoundedCount
		/** Of campaigns that are being sent */
		campaignWaiting: number
		campaignSending: number
		scheduled: BoundedCount
		nextScheduledFor: string | null
	}
	doubt: {
		uncertain: BoundedCount
		oldestSince: string | null
	}
	outbox: {
		waiting: BoundedCount
		oldestSince: string | null
	}
	webhooks: {
		waiting: BoundedCount
	}
	runs: ActiveRun[]
}

export interface Tag {
	/** The name of the tag. */
	name: string
	/** The value of the tag. */
	value: string
}

export interface Template {
	id: string
	name: string
	description: string | null
	subject: string
	body: string
	from: string
	fromName: string | null
	replyTo: string | null
	type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
	language: string | null
	projectId: string
	createdAt: string
	updatedAt: string
}

export interface TemplatePreview {
	subject: string
	html: string
	text: string
	unset: string[]
}

export interface TemplateUsage {
	campaigns: {
		id: string
		name: string
		status: string
	}[]
	workflowSteps: {
		id: string
		name: string
		workflowId: string
		workflowName: string
	}[]
	emailsSent: number
}

/** Compares a time with now. */
export interface TimeFilter {
	/** `email`, `subscribed`, `createdAt`, `updatedAt`, `data.<path>`, `event.<name>`, `email.<activity>` or `segment.<id>`. Dots in a path reach into objects. An activity is sent, delivered, opened, clicked, bounced or complained. */
	field: string
	/** The operators that fit depend on the field. */
	operator: 'within' | 'olderThan' | 'triggeredWithin' | 'triggeredOlderThan' | 'notTriggeredWithin'
	/** How many units of time. */
	value: number
	/** The unit of `value`. */
	unit: 'minutes' | 'hours' | 'days'
}

export interface TopCampaign {
	id: string
	name: string
	subject: string
	sentCount: number
	openedCount: number
	clickedCount: number
	/** Percent */
	openRate: number
	/** Percent */
	clickRate: number
}

export interface TopEvent {
	name: string
	count: number
	/** Change in percent against the period before; 100 if new */
	trend: number
}

export interface TrackedEvent {
	/** The address of the contact. */
	email: string
	/** The name of the event. Names of the service’s own events are reserved. */
	event: string
	/** By default true for new contacts, unchanged for others */
	subscribed?: boolean | undefined
	/** Stored on the contact and with the event; { value, persistent: false } with the event only */
	data?: Record<string, unknown> | undefined
}

export interface Transition {
	id: string
	fromStepId: string
	toStepId: string
	branch: string | null
	condition: {
		branch: string
	} | null
	priority: number
	createdAt: string
	updatedAt: string
}

/** Which form applies depends on `triggerType`. */
export type TriggerConfig = EventTrigger | ScheduleTrigger | ManualTrigger

/** Where every execution starts. It is created with the workflow and has no configuration. */
export interface TriggerStep {
	id: string
	workflowId: string
	type: 'TRIGGER'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: EmptyConfig
	templateId: null
	createdAt: string
	updatedAt: string
}

/** Where every execution starts. It is created with the workflow and has no configuration. */
export interface TriggerStepWithTransitions {
	id: string
	workflowId: string
	type: 'TRIGGER'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: EmptyConfig
	templateId: null
	createdAt: string
	updatedAt: string
	/** How many executions are at this step now, in any version. */
	activeExecutions: number
	template: Reference | null
	outgoingTransitions: Transition[]
	incomingTransitions: Transition[]
}

export interface UndoResult {
	restored: number
	removed: number
	skipped: number
}

export interface UpcomingActivity {
	id: string
	type: 'campaign.scheduled' | 'email.scheduled' | 'workflow.active'
	timestamp: string
	contactEmail?: string | undefined
	contactId?: string | undefined
	metadata: Record<string, unknown>
}

/** Changes the data or the subscription of the contact. */
export interface UpdateContactConfig {
	/** Data to store on the contact. Strings are Liquid templates, and a null deletes a field. */
	data?: Record<string, unknown> | undefined
	/** Another name for `data`. */
	updates?: Record<string, unknown> | undefined
	/** Subscribes or unsubscribes the contact. */
	subscribed?: boolean | null | undefined
	/** Another name for `subscribed`. */
	subscriptionAction?: 'subscribe' | 'unsubscribe' | 'none' | null | undefined
}

/** Changes the data or the subscription of the contact. */
export interface UpdateContactStep {
	id: string
	workflowId: string
	type: 'UPDATE_CONTACT'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: UpdateContactConfig | EmptyConfig
	templateId: null
	createdAt: string
	updatedAt: string
}

/** Changes the data or the subscription of the contact. */
export interface UpdateContactStepWithTransitions {
	id: string
	workflowId: string
	type: 'UPDATE_CONTACT'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: UpdateContactConfig | EmptyConfig
	templateId: null
	createdAt: string
	updatedAt: string
	/** How many executions are at this step now, in any version. */
	activeExecutions: number
	template: Reference | null
	outgoingTransitions: Transition[]
	incomingTransitions: Transition[]
}

export interface UpsertedContact {
	id: string
	email: string
	subscribed: boolean
	data: Record<string, unknown>
	createdAt: string
	updatedAt: string
	_meta: {
		isNew: boolean
		isUpdate: boolean
	}
}

/** Compares a field with a value. */
export interface ValueFilter {
	/** `email`, `subscribed`, `createdAt`, `updatedAt`, `data.<path>`, `event.<name>`, `email.<activity>` or `segment.<id>`. Dots in a path reach into objects. An activity is sent, delivered, opened, clicked, bounced or complained. */
	field: string
	/** The operators that fit depend on the field. */
	operator:
		| 'equals'
		| 'notEquals'
		| 'contains'
		| 'notContains'
		| 'greaterThan'
		| 'lessThan'
		| 'greaterThanOrEqual'
		| 'lessThanOrEqual'
	/** Compared with the field. Null is allowed with equals and notEquals. A date is a string such as 2026-01-31. */
	value: unknown
	/** Ignored by these operators. */
	unit?: string | null | undefined
}

/** Waits for an event of the contact, and continues by `event` or `timeout`. */
export interface WaitForEventConfig {
	/** The event to wait for. */
	eventName: string
	/** Seconds until the branch timeout is taken. Without it, the step waits for ever. */
	timeout?: number | null | undefined
	/** step: events count from the moment the latest mail, delay, wait or call before this step was reached. start: events since the start of the execution count. */
	since?: 'step' | 'start' | null | undefined
}

/** Waits for an event of the contact, and continues by `event` or `timeout`. */
export interface WaitForEventStep {
	id: string
	workflowId: string
	type: 'WAIT_FOR_EVENT'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: WaitForEventConfig | EmptyConfig
	templateId: null
	createdAt: string
	updatedAt: string
}

/** Waits for an event of the contact, and continues by `event` or `timeout`. */
export interface WaitForEventStepWithTransitions {
	id: string
	workflowId: string
	type: 'WAIT_FOR_EVENT'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: WaitForEventConfig | EmptyConfig
	templateId: null
	createdAt: string
	updatedAt: string
	/** How many executions are at this step now, in any version. */
	activeExecutions: number
	template: Reference | null
	outgoingTransitions: Transition[]
	incomingTransitions: Transition[]
}

/** Calls a URL of yours. */
export interface WebhookConfig {
	/** The URL to call, a Liquid template. */
	url: string
	/** POST unless you set it. */
	method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | null | undefined
	/** Headers of the request. The values are Liquid templates. */
	headers?: Record<string, unknown> | null | undefined
	/** The JSON to send. Strings in it are Liquid templates. Without it, the contact, workflow, execution and event are sent. */
	body?: unknown
	/** Seconds for which failed requests are repeated. 3,600 unless you set it. */
	retryFor?: number | null | undefined
	/** Continue with the next step if all requests fail. */
	continueOnError?: boolean | null | undefined
}

export interface WebhookDelivery {
	id: string
	endpointId: string
	/** The `webhook-id` of its requests: the same for all endpoints */
	webhookId: string
	type: string
	emailId: string | null
	contactId: string | null
	/** PENDING: due, or waits for its next try. FAILED: given up after eight tries. HELD: kept for a replay, because its endpoint is disabled */
	status: 'PENDING' | 'DELIVERED' | 'FAILED' | 'HELD'
	/** At most the latest 20 are kept */
	tries: number
	lastAttempt: {
		at: string
		durationMs: number
		/** The status of the answer; null: there was none */
		status: number | null
		/** Why there was no answer */
		error: string | null
	} | null
	nextTryAt: string | null
	occurredAt: string
}

export interface WebhookDeliveryDetail {
	id: string
	endpointId: string
	/** The `webhook-id` of its requests: the same for all endpoints */
	webhookId: string
	type: string
	emailId: string | null
	contactId: string | null
	/** PENDING: due, or waits for its next try. FAILED: given up after eight tries. HELD: kept for a replay, because its endpoint is disabled */
	status: 'PENDING' | 'DELIVERED' | 'FAILED' | 'HELD'
	/** At most the latest 20 are kept */
	tries: number
	lastAttempt: {
		at: string
		durationMs: number
		/** The status of the answer; null: there was none */
		status: number | null
		/** Why there was no answer */
		error: string | null
	} | null
	nextTryAt: string | null
	occurredAt: string
	payload: string | null
	attempts: {
		at: string
		durationMs: number
		/** The status of the answer; null: there was none */
		status: number | null
		/** Why there was no answer */
		error: string | null
		/** The first 4 KB of the answer */
		answer: string | null
	}[]
}

export interface WebhookEndpoint {
	id: string
	url: string
	events: string[]
	description: string | null
	ordering: 'none' | 'email'
	enabled: boolean
	disabledReason: 'OWNER' | 'GONE' | 'FAILING' | null
	disabledAt: string | null
	health: {
		/** `new`: nothing was delivered yet. `failing`: the latest tries failed */
		state: 'new' | 'healthy' | 'failing' | 'disabled'
		lastSuccessAt: string | null
		failingSince: string | null
		failuresInRow: number
		/** Nothing is delivered before: it failed too often, or asked for it by Retry-After */
		restingUntil: string | null
		/** Deliveries that are due or wait for their next try, counted up to 10000 */
		waiting: number
	}
	/** The replay that is under way: `/webhook-endpoints/{id}/replay/{jobId}` shows and cancels it */
	replayJobId: string | null
	createdAt: string
	updatedAt: string
}

/** The body of a webhook. `type` says which. */
export type WebhookEvent =
	| EmailScheduledWebhook
	| EmailSentWebhook
	| EmailDeliveredWebhook
	| EmailDelayedWebhook
	| EmailOpenedWebhook
	| EmailClickedWebhook
	| EmailBouncedWebhook
	| EmailComplainedWebhook
	| EmailFailedWebhook
	| EmailSuppressedWebhook
	| EmailCancelledWebhook
	| EmailUncertainWebhook
	| EmailReceivedWebhook
	| ContactCreatedWebhook
	| ContactUpdatedWebhook
	| ContactDeletedWebhook
	| ContactSubscribedWebhook
	| ContactUnsubscribedWebhook
	| SegmentEnteredWebhook
	| SegmentLeftWebhook
	| CampaignStartedWebhook
	| CampaignPausedWebhook
	| CampaignCompletedWebhook
	| CampaignCancelledWebhook
	| ExecutionStartedWebhook
	| ExecutionCompletedWebhook
	| ExecutionFailedWebhook
	| ExecutionCancelledWebhook
	| DomainVerifiedWebhook
	| DomainFailedWebhook
	| ProjectSuspendedWebhook
	| EventWebhook

export interface WebhookReplay {
	id: string
	state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled'
	progress: number
	/** Deliveries that it has made due again */
	replayed: number
	from: string
	to: string
	only: 'failed' | 'all'
	failedReason: string | null
	createdAt: string
	startedAt: string | null
	finishedAt: string | null
}

export interface WebhookSecret {
	/** whsec_… */
	secret: string
}

/** Calls a URL of yours. */
export interface WebhookStep {
	id: string
	workflowId: string
	type: 'WEBHOOK'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: WebhookConfig | EmptyConfig
	templateId: null
	createdAt: string
	updatedAt: string
}

/** Calls a URL of yours. */
export interface WebhookStepWithTransitions {
	id: string
	workflowId: string
	type: 'WEBHOOK'
	name: string
	/** Where an editor draws the step. */
	position: {
		x: number
		y: number
	}
	config: WebhookConfig | EmptyConfig
	templateId: null
	createdAt: string
	updatedAt: string
	/** How many executions are at this step now, in any version. */
	activeExecutions: number
	template: Reference | null
	outgoingTransitions: Transition[]
	incomingTransitions: Transition[]
}

export interface WebhookTest {
	/** The `webhook-id` of the request */
	webhookId: string
	/** The endpoint answered with a 2xx */
	success: boolean
	status: number | null
	durationMs: number
	/** The first 4 KB of the answer */
	answer: string | null
	/** Why there was no answer */
	error: string | null
	/** The body that was sent */
	payload: string
}

export interface Workflow {
	id: string
	projectId: string
	name: string
	description: string | null
	enabled: boolean
	triggerType: 'EVENT' | 'MANUAL' | 'SCHEDULE'
	triggerConfig: TriggerConfig | null
	allowReentry: boolean
	version: number | null
	createdAt: string
	updatedAt: string
}

export interface WorkflowCheck {
	/** Whether the workflow can be enabled. */
	isValid: boolean
	errors: WorkflowFault[]
	/** Legal, but probably a mistake */
	warnings: WorkflowWarning[]
}

/** Executions of the version run exactly this. */
export interface WorkflowDefinition {
	/** Its type, and the members of its configuration. */
	trigger: {
		type: 'EVENT' | 'MANUAL' | 'SCHEDULE'
	}
	allowReentry: boolean
	steps: DefinedStep[]
	transitions: DefinedTransition[]
}

export interface WorkflowFault {
	stepId: string | null
	name: string | null
	/** The member of the step, or of the workflow if there is no step. Empty: the connections of the step. */
	field: string
	message: string
	code: string
}

export interface WorkflowGraph {
	/** See PATCH /workflows/{id}. */
	triggerType?: 'EVENT' | 'MANUAL' | 'SCHEDULE' | undefined
	/** The members for its type. See PATCH /workflows/{id}. */
	triggerConfig?: Record<string, unknown> | null | undefined
	/** Let a contact enter again once its execution has ended. */
	allowReentry?: boolean | undefined
	/** All steps. One of them is the TRIGGER. */
	steps: GraphStep[]
	/** All transitions. The order is kept. */
	transitions: GraphTransition[]
}

export interface WorkflowPassage {
	/** How many executions were read. */
	executions: number
	/** Whether these are all. */
	isWhole: boolean
	steps: StepPassage[]
}

export interface WorkflowWarning {
	stepId: string
	name: string
	message: string
}

export interface WorkflowWithSteps {
	id: string
	projectId: string
	name: string
	description: string | null
	enabled: boolean
	triggerType: 'EVENT' | 'MANUAL' | 'SCHEDULE'
	triggerConfig: TriggerConfig | null
	allowReentry: boolean
	version: number | null
	createdAt: string
	updatedAt: string
	steps: StepWithTransitions[]
	transitions: Transition[]
}

export interface LogInInput {
	/** The address of the account. */
	email: string
	/** The password of the account. */
	password: string
}

export interface SignUpInput {
	/** The address of the new account. A verification mail is sent to it. */
	email: string
	/** At least 8 characters. */
	password: string
}

export interface GetUserAnswer {
	id: string
	email: string
	emailVerified: boolean
}

export interface RequestPasswordResetInput {
	/** The address of the account. */
	email: string
}

export interface ShowVerifyEmailInput {
	/** The token from the link in our mail. */
	token?: string | undefined
}

export interface VerifyEmailInput {
	/** The token from the link in our mail. */
	token: string
}

export interface ShowResetPasswordInput {
	/** The token from the link in our mail. */
	token?: string | undefined
}

export interface ResetPasswordInput {
	/** The token from the link in our mail. */
	token: string
	/** At least 8 characters. */
	newPassword: string
}

export interface ShowAcceptInvitationInput {
	/** The token from the link in our mail. */
	token?: string | undefined
}

export interface AcceptInvitationInput {
	/** The token from the link in our mail. */
	token: string
	/** Required unless there is an account with a verified address. */
	password?: string | undefined
}

export interface LogInLocallyInput {
	/** The token from the link. */
	token?: string | undefined
}

export interface GetOauthConfigAnswer {
	github: boolean
	google: boolean
}

export interface FinishOauthInput {
	/** The code from the provider. */
	code?: string | undefined
	/** The state that our redirect carried. */
	state?: string | undefined
}

export interface AddMemberInput {
	/** The address of an account, or of a person to invite. */
	email: string
	/** The role in this project. */
	role?: 'MEMBER' | 'ADMIN' | undefined
}

export type AddMemberAnswer = Member | Invitation

export interface UpdateMemberInput {
	/** The new role. */
	role: 'MEMBER' | 'ADMIN'
}

export interface ListAuditEntriesInput {
	/** Only changes by this user. */
	userId?: string | undefined
	/** Only changes by users, or by secret keys. */
	by?: 'user' | 'key' | undefined
	/** Only changes since then. */
	from?: string | undefined
	/** Only changes until then. */
	to?: string | undefined
	/** The `cursor` of the previous page. Leave it out for the first. */
	cursor?: string | undefined
	/** At most 100 */
	limit?: number | undefined
}

export interface ListAuditEntriesAnswer {
	data: AuditEntry[]
	cursor?: string | undefined
	hasMore: boolean
	total: number
}

export interface CreateProjectInput {
	/** The name of the project. */
	name: string
}

export interface UpdateProjectInput {
	/** The name of the project. */
	name?: string | undefined
	/** The mails in which opens and clicks are tracked. */
	tracking?: 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY' | undefined
	/** The language of unsubscribe pages and footers. */
	language?: string | undefined
	/** Shown in the footer of MARKETING mail, with its line breaks. null or an empty text removes it */
	postalAddress?: string | null | undefined
}

export interface SendMailInput {
	/** One recipient or up to 1,000, each an address or { name, email } */
	to: string | MailAddress | (string | MailAddress)[]
	/** Further readers of the same mail, whom its readers see. Only with one recipient in `to`; at most 50 in cc and bcc together. */
	cc?: string | MailAddress | (string | MailAddress)[] | undefined
	/** Further readers of the same mail, whom its readers do not see. As for cc. */
	bcc?: string | MailAddress | (string | MailAddress)[] | undefined
	/** A Liquid template. Required without a template; overrides the one of the template. */
	subject?: string | undefined
	/** HTML, a Liquid template. Required without a template; overrides the one of the template. */
	body?: string | undefined
	/** The text part, a Liquid template. Left out, it is made from the body. Without body and template it is the whole content. */
	text?: string | undefined
	/** The template that supplies what the request leaves out. A MARKETING template is sent only to contacts who have subscribed. */
	template?: string | undefined
	/** false sends subject and body unchanged, including braces */
	render?: boolean | undefined
	/** The sender. Required unless the template has one; its domain must be verified. */
	from?: string | MailAddress | undefined
	/** Deprecated: give `from` as { name, email }. The sender’s name where `from` is an address. */
	name?: string | undefined
	/** Subscribes or unsubscribes the recipients. Left out, contacts stay as they are and new ones are not subscribed. */
	subscribed?: boolean | undefined
	/** Variables of the templates, which are also stored on the contact. A null deletes a field, an empty string is ignored, and { value, persistent: false } is used for this mail only. */
	data?: Record<string, unknown> | undefined
	/** Headers of the mail, by name. At most 50. */
	headers?: Record<string, string> | undefined
	/** The address for replies. */
	reply?: string | undefined
	/** Your own names and values, returned with the mail. At most 50. */
	tags?: Tag[] | undefined
	delivery?: Delivery | undefined
	/** At most 10 files of 10 MB in total, unless this installation allows more. */
	attachments?: Attachment[] | undefined
}

/** 1 to 100 messages, each as in POST /v1/send */
export type SendBatchInput = {
	/** One recipient or up to 1,000, each an address or { name, email } */
	to: string | MailAddress | (string | MailAddress)[]
	/** Further readers of the same mail, whom its readers see. Only with one recipient in `to`; at most 50 in cc and bcc together. */
	cc?: string | MailAddress | (string | MailAddress)[] | undefined
	/** Further readers of the same mail, whom its readers do not see. As for cc. */
	bcc?: string | MailAddress | (string | MailAddress)[] | undefined
	/** A Liquid template. Required without a template; overrides the one of the template. */
	subject?: string | undefined
	/** HTML, a Liquid template. Required without a template; overrides the one of the template. */
	body?: string | undefined
	/** The text part, a Liquid template. Left out, it is made from the body. Without body and template it is the whole content. */
	text?: string | undefined
	/** The template that supplies what the request leaves out. A MARKETING template is sent only to contacts who have subscribed. */
	template?: string | undefined
	/** false sends subject and body unchanged, including braces */
	render?: boolean | undefined
	/** The sender. Required unless the template has one; its domain must be verified. */
	from?: string | MailAddress | undefined
	/** Deprecated: give `from` as { name, email }. The sender’s name where `from` is an address. */
	name?: string | undefined
	/** Subscribes or unsubscribes the recipients. Left out, contacts stay as they are and new ones are not subscribed. */
	subscribed?: boolean | undefined
	/** Variables of the templates, which are also stored on the contact. A null deletes a field, an empty string is ignored, and { value, persistent: false } is used for this mail only. */
	data?: Record<string, unknown> | undefined
	/** Headers of the mail, by name. At most 50. */
	headers?: Record<string, string> | undefined
	/** The address for replies. */
	reply?: string | undefined
	/** Your own names and values, returned with the mail. At most 50. */
	tags?: Tag[] | undefined
	delivery?: Delivery | undefined
	/** At most 10 files of 10 MB in total, unless this installation allows more. */
	attachments?: Attachment[] | undefined
}[]

export interface TrackAnswer {
	contact: string
	event: string
	timestamp: string
}

export interface VerifyAddressInput {
	/** The address to check. */
	email: string
}

export type CreateEventInput = NewEvent | TrackedEvent

export type CreateEventAnswer =
	| {
			contact: string
			event: string
			timestamp: string
	  }
	| Event

export interface ListEventsInput {
	/** Only events with this name. */
	eventName?: string | undefined
	/** At most 1000 */
	limit?: number | undefined
}

export interface ListEventsAnswer {
	events: EventWithContact[]
}

export interface GetEventStatsInput {
	/** A date (a whole UTC day) or a date and time in ISO 8601 */
	startDate?: string | undefined
	/** A date (a whole UTC day) or a date and time in ISO 8601 */
	endDate?: string | undefined
}

export type GetEventStatsAnswer = {
	name: string
	count: number
}[]

export interface ListContactEventsInput {
	/** At most 1000 */
	limit?: number | undefined
	/** The `cursor` of the previous page. Leave it out for the first. */
	cursor?: string | undefined
}

export interface ListContactEventsAnswer {
	events: Event[]
	hasMore: boolean
	/** Absent on the last page */
	cursor?: string | undefined
}

export interface ListEventNamesAnswer {
	eventNames: string[]
}

export interface DeleteEventsAnswer {
	deletedCount: number
}

export interface ListExecutionsInput {
	/** The page to return. The first is 1. */
	page?: number | undefined
	/** At most 100 */
	pageSize?: number | undefined
	/** Only executions with this status. */
	status?: 'RUNNING' | 'WAITING' | 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED' | undefined
	/** Only executions of this contact. */
	contactId?: string | undefined
	/** Only executions that are at this step now. With the status FAILED or CANCELLED, those that ended at it. */
	stepId?: string | undefined
}

export interface ListExecutionsAnswer {
	data: ListedExecution[]
	page: number
	pageSize: number
	total: number
	totalPages: number
}

export interface StartExecutionInput {
	/** The contact that enters. */
	contactId: string
	/** Variables of this execution. They override the data of the contact */
	context?: Record<string, unknown> | undefined
}

export interface ListContactExecutionsInput {
	/** The page to return. The first is 1. */
	page?: number | undefined
	/** At most 100 */
	pageSize?: number | undefined
	/** Only executions with this status. */
	status?: 'RUNNING' | 'WAITING' | 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED' | undefined
}

export interface ListContactExecutionsAnswer {
	data: ContactExecution[]
	page: number
	pageSize: number
	total: number
	totalPages: number
}

export interface CancelExecutionsAnswer {
	cancelled: number
}

export interface RetryExecutionsAnswer {
	retried: number
}

export interface ListContactFieldsAnswer {
	fields: {
		field: string
		type: 'string' | 'number' | 'boolean' | 'date' | 'object' | 'array'
		coverage: number
	}[]
	count: number
}

export interface ListContactFieldValuesInput {
	/** At most 200 */
	limit?: number | undefined
}

export interface ListContactFieldValuesAnswer {
	field: string
	values: (string | number | boolean)[]
	count: number
	limit: number
}

export interface GetContactFieldUsageAnswer {
	usedInSegments: Reference[]
	usedInCampaigns: Reference[]
	usedInWorkflows: Reference[]
	contactCount: number
	canDelete: boolean
}

export type DeleteContactFieldAnswer =
	| {
			deletedFrom: number
	  }
	| {
			message: string
			jobId: string
	  }

export interface ListContactsInput {
	/** How many contacts a page has. A larger number counts as 100. */
	limit?: number | undefined
	/** The `cursor` of the previous page. Leave it out for the first. */
	cursor?: string | undefined
	/** Part of the address */
	search?: string | undefined
	/** Only contacts who have subscribed, or only those who have not. */
	subscribed?: boolean | undefined
	/** What the list is sorted by. */
	sort?: 'email' | 'createdAt' | undefined
	/** The order of the list: ascending or descending. */
	dir?: 'asc' | 'desc' | undefined
}

export interface ListContactsAnswer {
	data: Contact[]
	cursor?: string | undefined
	hasMore: boolean
	total: number
}

export interface CreateContactInput {
	/** The address. It identifies the contact. */
	email: string
	/** By default true for a new contact, and unchanged for an existing one */
	subscribed?: boolean | undefined
	/** A null deletes a field, an empty string is ignored, { value, persistent: false } is not stored */
	data?: Record<string, unknown> | undefined
}

export interface QueryContactsInput {
	/** Only contacts that match this condition. */
	condition?: Condition | undefined
	/** Only members of this segment. */
	segmentId?: string | undefined
	/** Part of the address */
	search?: string | undefined
	/** Only contacts who have subscribed, or only those who have not. */
	subscribed?: boolean | undefined
	/** What the list is sorted by. */
	sort?: 'createdAt' | 'email' | undefined
	/** The order of the list: ascending or descending. */
	dir?: 'asc' | 'desc' | undefined
	/** The `cursor` of the previous page. Leave it out for the first. */
	cursor?: string | undefined
	/** At most 100 */
	limit?: number | undefined
	/** false: `total` is not counted if that takes time, so that the first page comes sooner when there are many contacts. */
	count?: boolean | undefined
}

export interface QueryContactsAnswer {
	data: Contact[]
	cursor?: string | undefined
	hasMore: boolean
	total: number
	/** Whether `total` was counted: on the first page, unless you declined or that takes longer than 5 seconds. */
	isCounted: boolean
}

export interface UpdateContactInput {
	/** The new address. Another contact may not have it. */
	email?: string | undefined
	/** A change creates the event contact.subscribed or contact.unsubscribed. */
	subscribed?: boolean | undefined
	/** Members that you leave out stay as they are. A null deletes a field, and an empty string is ignored. */
	data?: Record<string, unknown> | null | undefined
}

export interface DeleteContactInput {
	/** Remove the address and the data from its mails, too. */
	erase?: boolean | undefined
}

export interface LookUpContactsInput {
	/** The addresses to look up, at most 500. */
	emails: string[]
}

export interface LookUpContactsAnswer {
	found: string[]
	notFound: string[]
}

export interface CreateSegmentInput {
	/** The name in lists. */
	name: string
	/** A note of your own. */
	description?: string | null | undefined
	/** DYNAMIC: the contacts that match a condition. STATIC: the contacts that you put in. */
	type?: 'DYNAMIC' | 'STATIC' | undefined
	/** Required for a DYNAMIC segment, ignored for a STATIC one. */
	condition?: Condition | undefined
	/** Create the events segment.<slug>.entry and segment.<slug>.exit when contacts join and leave. */
	trackMembership?: boolean | undefined
}

export interface UpdateSegmentInput {
	/** The name in lists. */
	name?: string | undefined
	/** A note of your own. */
	description?: string | null | undefined
	/** The new condition of a DYNAMIC segment. Ignored for a STATIC one. */
	condition?: Condition | undefined
	/** Create the events segment.<slug>.entry and segment.<slug>.exit when contacts join and leave. */
	trackMembership?: boolean | undefined
}

export interface ComputeSegmentAnswer {
	added: number
	removed: number
	total: number
}

export interface RefreshSegmentAnswer {
	memberCount: number
}

export interface ListSegmentContactsInput {
	/** The page to return. The first is 1. */
	page?: number | undefined
	/** At most 100 */
	pageSize?: number | undefined
}

export interface ListSegmentContactsAnswer {
	data: Contact[]
	page: number
	pageSize: number
	total: number
	totalPages: number
}

export interface AddSegmentMembersInput {
	/** At most 500 addresses. */
	emails: string[]
	/** Create contacts for unknown addresses. */
	createMissing?: boolean | undefined
	/** The subscription of created contacts */
	subscribed?: boolean | undefined
}

export interface AddSegmentMembersAnswer {
	added: number
	created: number
	/** With the spelling of the request */
	notFound: string[]
}

export interface RemoveSegmentMembersInput {
	/** At most 500 addresses. */
	emails: string[]
}

export interface RemoveSegmentMembersAnswer {
	removed: number
}

export interface PreviewSegmentInput {
	/** The condition of a segment that does not exist yet. */
	condition: Condition
}

export interface ListEmailsInput {
	/** Only mails to this contact. */
	contactId?: string | undefined
	/** Only mails with this status. */
	status?:
		| 'SCHEDULED'
		| 'PENDING'
		| 'SENDING'
		| 'UNCERTAIN'
		| 'SENT'
		| 'DELIVERED'
		| 'OPENED'
		| 'CLICKED'
		| 'BOUNCED'
		| 'COMPLAINED'
		| 'FAILED'
		| 'SUPPRESSED'
		| 'CANCELLED'
		| 'RECEIVED'
		| undefined
	/** Only mails from this source. */
	sourceType?: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW' | 'INBOUND' | undefined
	/** Only mails of this campaign. */
	campaignId?: string | undefined
	/** An address, the id of a mail, the beginning of an address, or words of a subject. Words are found in the newest 20,000 mails; `from` and `to` choose others. */
	search?: string | undefined
	/** Only mails accepted since then. */
	from?: string | undefined
	/** Only mails accepted until then. */
	to?: string | undefined
	/** false leaves the contents out: `body` is null, and the `subject` of a campaign’s mail that has not left is not rendered. Browsers may keep such an answer. */
	bodies?: boolean | undefined
	/** The `cursor` of the previous page. Leave it out for the first. */
	cursor?: string | undefined
	/** At most 100 */
	limit?: number | undefined
}

export interface ListEmailsAnswer {
	data: Email[]
	cursor?: string | undefined
	hasMore: boolean
	total: number
	/** Subjects of mails older than this were not searched. Absent: all were. */
	searchedSince?: string | undefined
}

export interface UpdateEmailInput {
	/** When the mail is sent instead. */
	delivery: {
		/** The new time, with a time zone, at most 30 days ahead and at most 60 days after the mail was accepted. A time in the past means now. */
		at: string
	}
}

export interface ResolveEmailInput {
	/** sent: the mail counts as sent. retry: it is sent again, at the risk of a second copy; a mail of a running campaign by the campaign, once that is not paused. */
	as: 'sent' | 'retry'
}

export interface ListSuppressionsInput {
	/** Part of the address */
	search?: string | undefined
	/** Only addresses with this reason. */
	reason?: 'BOUNCE' | 'COMPLAINT' | 'MANUAL' | 'UNSUBSCRIBED_ALL' | undefined
	/** The `cursor` of the previous page. Leave it out for the first. */
	cursor?: string | undefined
	/** At most 100 */
	limit?: number | undefined
}

export interface ListSuppressionsAnswer {
	data: Suppression[]
	cursor?: string | undefined
	hasMore: boolean
	total: number
}

export interface CreateSuppressionInput {
	/** The address that gets no more mail. */
	email: string
	/** MANUAL unless you set it. */
	reason?: 'BOUNCE' | 'COMPLAINT' | 'MANUAL' | 'UNSUBSCRIBED_ALL' | undefined
}

export interface ShowUnsubscribeInput {
	/** The id of the mail whose link led here */
	e?: string | undefined
}

export interface UnsubscribeInput {
	/** The id of the mail whose link led here */
	e?: string | undefined
}

export interface ShowSubscribeInput {
	/** The id of the mail whose link led here */
	e?: string | undefined
}

export interface SubscribeInput {
	/** The id of the mail whose link led here */
	e?: string | undefined
}

export interface ShowManageInput {
	/** The id of the mail whose link led here */
	e?: string | undefined
}

export interface ManageInput {
	/** The id of the mail whose link led here */
	e?: string | undefined
}

export interface GetPublicContactAnswer {
	id: string
	email: string
	subscribed: boolean
	language: string
}

export interface SubscribePublicContactInput {
	/** The id of the mail whose link led here */
	e?: string | undefined
}

export interface UnsubscribePublicContactInput {
	/** The id of the mail whose link led here */
	e?: string | undefined
}

export interface ListTemplatesInput {
	/** The page to return. The first is 1. */
	page?: number | undefined
	/** At most 100 */
	pageSize?: number | undefined
	/** Only templates of this type. */
	type?: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS' | undefined
	/** Part of name, description or subject */
	search?: string | undefined
	/** What the list is sorted by. */
	sort?: 'name' | 'createdAt' | 'updatedAt' | undefined
	/** The order of the list: ascending or descending. */
	dir?: 'asc' | 'desc' | undefined
}

export interface ListTemplatesAnswer {
	data: Template[]
	page: number
	pageSize: number
	total: number
	totalPages: number
}

export interface CreateTemplateInput {
	/** The name in lists. */
	name: string
	/** A Liquid template. */
	subject: string
	/** HTML, a Liquid template */
	body: string
	/** The sender. Its domain must be verified. */
	from: string | Sender
	/** A note of your own. Recipients never see it. */
	description?: string | null | undefined
	/** The name of the sender. */
	fromName?: string | null | undefined
	/** The address for replies. */
	replyTo?: string | null | undefined
	/** MARKETING is sent only to contacts who have subscribed, with a footer to unsubscribe. HEADLESS has no footer, and /v1/send sends it to everybody. TRANSACTIONAL is sent to everybody. A new template is MARKETING unless you set it. */
	type?: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS' | undefined
	/** The language of subject and body, such as en or de-AT. The default is the project’s language. */
	language?: string | null | undefined
}

export interface UpdateTemplateInput {
	/** The name in lists. */
	name?: string | undefined
	/** A Liquid template. */
	subject?: string | undefined
	/** HTML, a Liquid template */
	body?: string | undefined
	/** The sender. Its domain must be verified. */
	from?: string | Sender | undefined
	/** A note of your own. Recipients never see it. */
	description?: string | null | undefined
	/** The name of the sender. */
	fromName?: string | null | undefined
	/** The address for replies. */
	replyTo?: string | null | undefined
	/** MARKETING is sent only to contacts who have subscribed, with a footer to unsubscribe. HEADLESS has no footer, and /v1/send sends it to everybody. TRANSACTIONAL is sent to everybody. A new template is MARKETING unless you set it. */
	type?: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS' | undefined
	/** The language of subject and body, such as en or de-AT. The default is the project’s language. */
	language?: string | null | undefined
}

export interface PreviewTemplateInput {
	/** Variables of the template. */
	data?: Record<string, unknown> | undefined
	/** A contact whose data fills in what `data` leaves out. */
	contactId?: string | undefined
}

export interface PreviewContentInput {
	/** A Liquid template. */
	subject: string
	/** HTML, a Liquid template */
	body: string
	/** The text part, a Liquid template. Left out, it is made from the body. */
	text?: string | null | undefined
	/** MARKETING has a footer to unsubscribe. */
	type?: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS' | undefined
	/** The sender. Its domain need not be verified. */
	from?: string | Sender | undefined
	/** The name of the sender. */
	fromName?: string | null | undefined
	/** The address for replies. */
	replyTo?: string | null | undefined
	/** The language of subject and body, such as en or de-AT. The default is the project’s language. */
	language?: string | null | undefined
	/** Variables of the template. They override the data of the contact. */
	data?: Record<string, unknown> | undefined
	/** A contact whose data fills in what `data` leaves out. */
	contactId?: string | undefined
}

export interface TestTemplateInput {
	/** The address that gets the test. */
	to: string
	/** Variables of the template. They override the data of the contact. */
	data?: Record<string, unknown> | undefined
	/** A contact whose data fills in what `data` leaves out. */
	contactId?: string | undefined
}

export interface ListWorkflowFieldsInput {
	/** Returns only the fields of this event and of contacts. */
	eventName?: string | undefined
}

export interface ListWorkflowFieldsAnswer {
	fields: string[]
	typedFields: {
		field: string
		type: 'string' | 'number' | 'boolean' | 'date' | 'object' | 'array'
		category: 'contact' | 'event'
	}[]
	count: number
}

export interface ListWorkflowsInput {
	/** The page to return. The first is 1. */
	page?: number | undefined
	/** At most 100 */
	pageSize?: number | undefined
	/** Part of name or description */
	search?: string | undefined
	/** Only workflows that are enabled, or only those that are not. */
	status?: 'active' | 'disabled' | undefined
	/** What the list is sorted by. */
	sort?: 'name' | 'createdAt' | 'updatedAt' | undefined
	/** The order of the list: ascending or descending. */
	dir?: 'asc' | 'desc' | undefined
}

export interface ListWorkflowsAnswer {
	data: ListedWorkflow[]
	page: number
	pageSize: number
	total: number
	totalPages: number
}

export interface CreateWorkflowInput {
	/** The name in lists. */
	name: string
	/** The event that starts an execution. Required here or in triggerConfig. */
	eventName?: string | undefined
	/** Another way to give the name of the event. */
	triggerConfig?:
		| {
				/** The name of the event. Names of the service’s own events are reserved. */
				eventName?: string | undefined
		  }
		| undefined
	/** A note of your own. */
	description?: string | null | undefined
	/** Let a contact enter again once its execution has ended. */
	allowReentry?: boolean | undefined
}

export interface UpdateWorkflowInput {
	/** The name in lists. */
	name?: string | undefined
	/** A note of your own. */
	description?: string | null | undefined
	/** Whether new executions start. */
	enabled?: boolean | undefined
	/** EVENT: an event of a contact. SCHEDULE: a cron expression. MANUAL: only your own calls. */
	triggerType?: 'EVENT' | 'MANUAL' | 'SCHEDULE' | undefined
	/** Required with a new triggerType, except MANUAL. */
	triggerConfig?: TriggerConfig | null | undefined
	/** Let a contact enter again once its execution has ended. */
	allowReentry?: boolean | undefined
}

export interface UpdateStepInput {
	/** The name in lists. */
	name?: string | undefined
	/** Where an editor draws the step. */
	position?:
		| {
				/** The distance from the left. */
				x: number
				/** The distance from the top. */
				y: number
		  }
		| undefined
	config?: StepConfig | undefined
	/** The template to send. For SEND_EMAIL only. */
	templateId?: string | null | undefined
}

export interface DeleteStepInput {
	/** Link the previous steps to the next one. */
	splice?: boolean | undefined
}

export interface CreateTransitionInput {
	/** The step where it starts. */
	fromStepId: string
	/** The step where it ends. */
	toStepId: string
	/** Required for a CONDITION. For a WAIT_FOR_EVENT, the default is event. */
	branch?: string | null | undefined
	/** Another way to give the branch. */
	condition?:
		| {
				/** See `branch`. */
				branch?: string | null | undefined
		  }
		| null
		| undefined
	/** The order of transitions in an editor. */
	priority?: number | undefined
}

export interface GetWorkflowVersionAnswer {
	version: number
	createdAt: string
	/** SHA-256 of the definition */
	hash: string
	definition: WorkflowDefinition
}

export interface ListCampaignsInput {
	/** The page to return. The first is 1. */
	page?: number | undefined
	/** At most 100 */
	pageSize?: number | undefined
	/** Only campaigns with this status. */
	status?: 'DRAFT' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'CANCELLED' | undefined
	/** Part of name, subject or sender */
	search?: string | undefined
	/** What the list is sorted by. */
	sort?: 'name' | 'createdAt' | 'updatedAt' | undefined
	/** The order of the list: ascending or descending. */
	dir?: 'asc' | 'desc' | undefined
}

export interface ListCampaignsAnswer {
	data: Campaign[]
	page: number
	pageSize: number
	total: number
	totalPages: number
}

export interface CreateCampaignInput {
	/** The name in lists. */
	name: string
	/** ALL: every contact that may get it. SEGMENT: the members of a segment. FILTERED: contacts that match a condition. */
	audienceType: 'ALL' | 'SEGMENT' | 'FILTERED'
	/** A note of your own. Recipients never see it. */
	description?: string | null | undefined
	/** A template that supplies the subject, body, sender and type that you leave out. */
	template?: string | null | undefined
	/** A Liquid template. */
	subject?: string | undefined
	/** HTML, a Liquid template */
	body?: string | undefined
	/** The sender. Its domain must be verified. */
	from?: string | Sender | undefined
	/** The name of the sender. */
	fromName?: string | null | undefined
	/** The address for replies. */
	replyTo?: string | null | undefined
	/** MARKETING and HEADLESS are sent only to subscribed contacts, and MARKETING has a footer with an unsubscribe link. TRANSACTIONAL is sent to all contacts. The default is MARKETING. */
	type?: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS' | undefined
	/** The language of subject and body, such as en or de-AT. The default is the project’s language. */
	language?: string | null | undefined
	/** The segment. Required when audienceType is SEGMENT. */
	segmentId?: string | null | undefined
	/** The condition. Required when audienceType is FILTERED. */
	audienceCondition?: Condition | null | undefined
}

export interface UpdateCampaignInput {
	/** The name in lists. */
	name?: string | undefined
	/** ALL: every contact that may get it. SEGMENT: the members of a segment. FILTERED: contacts that match a condition. */
	audienceType?: 'ALL' | 'SEGMENT' | 'FILTERED' | undefined
	/** A note of your own. Recipients never see it. */
	description?: string | null | undefined
	/** A template that supplies the subject, body, sender and type that you leave out. */
	template?: string | null | undefined
	/** A Liquid template. */
	subject?: string | undefined
	/** HTML, a Liquid template */
	body?: string | undefined
	/** The sender. Its domain must be verified. */
	from?: string | Sender | undefined
	/** The name of the sender. */
	fromName?: string | null | undefined
	/** The address for replies. */
	replyTo?: string | null | undefined
	/** MARKETING and HEADLESS are sent only to subscribed contacts, and MARKETING has a footer with an unsubscribe link. TRANSACTIONAL is sent to all contacts. The default is MARKETING. */
	type?: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS' | undefined
	/** The language of subject and body, such as en or de-AT. The default is the project’s language. */
	language?: string | null | undefined
	/** The segment. Required when audienceType is SEGMENT. */
	segmentId?: string | null | undefined
	/** The condition. Required when audienceType is FILTERED. */
	audienceCondition?: Condition | null | undefined
}

export interface SendCampaignInput {
	/** Any text that JavaScript can parse as a date. A time in the past means now */
	scheduledFor?: string | null | undefined
}

export interface SendCampaignAnswer {
	id: string
	name: string
	status: 'DRAFT' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'CANCELLED'
	scheduledFor: string | null
	warnings: string[]
}

export interface ResolveCampaignInput {
	/** sent: the mails count as sent. retry: they are sent again, at the risk of second copies. */
	as: 'sent' | 'retry'
}

export interface ResolveCampaignAnswer {
	resolved: number
	/** How many are left, or became uncertain meanwhile */
	uncertain: number
}

export interface ListCampaignRecipientsInput {
	/** Only recipients whose mail has this status. */
	status?:
		| 'SCHEDULED'
		| 'PENDING'
		| 'SENDING'
		| 'UNCERTAIN'
		| 'SENT'
		| 'DELIVERED'
		| 'OPENED'
		| 'CLICKED'
		| 'BOUNCED'
		| 'COMPLAINED'
		| 'FAILED'
		| 'SUPPRESSED'
		| 'CANCELLED'
		| 'RECEIVED'
		| undefined
	/** The `cursor` of the previous page. Leave it out for the first. */
	cursor?: string | undefined
	/** At most 100 */
	limit?: number | undefined
}

export interface ListCampaignRecipientsAnswer {
	data: CampaignRecipient[]
	cursor?: string | undefined
	hasMore: boolean
	total: number
}

export interface GetCampaignTimeseriesInput {
	/** The length of a step. */
	interval?: 'minute' | 'hour' | 'day' | undefined
}

export interface CountCampaignAudienceInput {
	/** ALL: every contact that may get it. SEGMENT: the members of a segment. FILTERED: contacts that match a condition. */
	audienceType: 'ALL' | 'SEGMENT' | 'FILTERED'
	/** TRANSACTIONAL also counts contacts who have not subscribed. */
	type?: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS' | undefined
	/** The segment. Required when audienceType is SEGMENT. */
	segmentId?: string | null | undefined
	/** The condition. Required when audienceType is FILTERED. */
	audienceCondition?: Condition | null | undefined
}

export interface TestCampaignInput {
	/** The address that gets the test. */
	email: string
	/** Variables of the templates. They override the data of the contact. */
	data?: Record<string, unknown> | undefined
}

export interface ListActivityInput {
	/** A date (a whole UTC day) or a date and time in ISO 8601 */
	startDate?: string | undefined
	/** A date (a whole UTC day) or a date and time in ISO 8601 */
	endDate?: string | undefined
	/** Some of event.triggered, email.sent, email.delivered, email.received, email.opened, email.clicked, email.bounced, email.complaint, contact.subscribed, contact.unsubscribed, email.failed, campaign.sent, campaign.scheduled, workflow.started, workflow.completed, workflow.email.scheduled; separated by commas, or repeated */
	types?: string[] | undefined
	/** Only activities of this contact. */
	contactId?: string | undefined
	/** The `cursor` of the previous page. Leave it out for the first. */
	cursor?: string | undefined
	/** At most 100 */
	limit?: number | undefined
}

export interface ListActivityAnswer {
	data: Activity[]
	cursor?: string | undefined
	hasMore: boolean
	total: number
}

export interface GetActivityStatsInput {
	/** A date (a whole UTC day) or a date and time in ISO 8601 */
	startDate?: string | undefined
	/** A date (a whole UTC day) or a date and time in ISO 8601 */
	endDate?: string | undefined
}

export interface CountRecentActivityInput {
	/** At most 60 */
	minutes?: number | undefined
}

export interface CountRecentActivityAnswer {
	count: number
	minutes: number
}

export interface ListActivityTypesAnswer {
	types: (
		| 'event.triggered'
		| 'email.sent'
		| 'email.delivered'
		| 'email.received'
		| 'email.opened'
		| 'email.clicked'
		| 'email.bounced'
		| 'email.complaint'
		| 'contact.subscribed'
		| 'contact.unsubscribed'
		| 'email.failed'
		| 'campaign.sent'
		| 'campaign.scheduled'
		| 'workflow.started'
		| 'workflow.completed'
		| 'workflow.email.scheduled'
	)[]
}

export interface ListUpcomingActivityInput {
	/** At most 100 */
	limit?: number | undefined
	/** At most 90 */
	daysAhead?: number | undefined
}

export interface ListUpcomingActivityAnswer {
	activities: UpcomingActivity[]
}

export interface GetTimeseriesInput {
	/** A date, or a time, which means its day in the time zone */
	startDate?: string | undefined
	/** A date, or a time, which means its day in the time zone */
	endDate?: string | undefined
	/** An IANA time zone, such as Europe/Berlin */
	tz?: string | undefined
}

export interface ListTopCampaignsInput {
	/** A date, or a time, which means its day in the time zone */
	startDate?: string | undefined
	/** A date, or a time, which means its day in the time zone */
	endDate?: string | undefined
	/** An IANA time zone, such as Europe/Berlin */
	tz?: string | undefined
	/** At most 50 */
	limit?: number | undefined
	/** What the campaigns are ranked by. */
	metric?: 'opened' | 'clicked' | 'sent' | undefined
}

export interface GetCampaignAnalyticsInput {
	/** A date, or a time, which means its day in the time zone */
	startDate?: string | undefined
	/** A date, or a time, which means its day in the time zone */
	endDate?: string | undefined
	/** An IANA time zone, such as Europe/Berlin */
	tz?: string | undefined
}

export interface GetCampaignAnalyticsAnswer {
	total: number
	active: number
	completed: number
	/** Percent */
	averageOpenRate: number
	/** Percent */
	averageClickRate: number
	/** At most the newest 1000 */
	campaigns: {
		id: string
		name: string
		status: 'DRAFT' | 'SCHEDULED' | 'SENDING' | 'SENT' | 'CANCELLED'
		sentCount: number
		deliveredCount: number
		openedCount: number
		clickedCount: number
		bouncedCount: number
		/** Percent */
		openRate: number
		/** Percent */
		clickRate: number
	}[]
}

export interface ListTopEventsInput {
	/** A date, or a time, which means its day in the time zone */
	startDate?: string | undefined
	/** A date, or a time, which means its day in the time zone */
	endDate?: string | undefined
	/** An IANA time zone, such as Europe/Berlin */
	tz?: string | undefined
	/** At most 50 */
	limit?: number | undefined
}

export interface ImportContactsInput {
	/** The CSV file, at most 5 MB. */
	file: FileInput
}

export interface ImportContactsAnswer {
	message: string
	jobId: string
}

export interface ListImportsInput {
	/** The `cursor` of the previous page. Leave it out for the first. */
	cursor?: string | undefined
	/** At most 100 */
	limit?: number | undefined
}

export interface ListImportsAnswer {
	data: ListedImport[]
	cursor?: string | undefined
	hasMore: boolean
	total: number
}

export interface UndoImportAnswer {
	message: string
	jobId: string
}

export interface SubscribeContactsAnswer {
	message: string
	jobId: string
}

export interface UnsubscribeContactsAnswer {
	message: string
	jobId: string
}

export interface DeleteContactsAnswer {
	message: string
	jobId: string
}

export interface CreateDomainInput {
	/** The domain, without http:// or a path. */
	domain: string
}

export interface UploadImageInput {
	/** A PNG, JPEG, GIF or WebP image, at most 10 MB. */
	image: FileInput
}

export interface UploadImageAnswer {
	url: string
	key: string
	filename: string
	contentType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
	size: number
}

export interface ReceiveBounceAnswer {
	matched: MatchedBounce[]
}

/** An event as its sender documents it, signed in the headers over its bytes */
export interface ReceiveResendEventInput {
	/** What happened. */
	type: string
	/** The record that it is about. */
	data: unknown
}

export interface CreateWebhookEndpointInput {
	/** The address that gets the events: https:// or http://, and public. */
	url: string
	/** Types such as `email.bounced`, all of a kind such as `contact.*`, tracked events such as `event.signup`, or `*`. */
	events: string[]
	/** For people who read the list. */
	description?: string | null | undefined
	/** False: nothing is delivered to it, and its events are kept for a replay. A new endpoint is enabled unless you set it. */
	enabled?: boolean | undefined
	/** `email`: the next event of a mail waits until the one before is delivered or given up. `none` unless you set it. */
	ordering?: 'none' | 'email' | undefined
}

export interface UpdateWebhookEndpointInput {
	/** The address that gets the events: https:// or http://, and public. */
	url?: string | undefined
	/** Types such as `email.bounced`, all of a kind such as `contact.*`, tracked events such as `event.signup`, or `*`. */
	events?: string[] | undefined
	/** For people who read the list. */
	description?: string | null | undefined
	/** `email`: the next event of a mail waits until the one before is delivered or given up. `none` unless you set it. */
	ordering?: 'none' | 'email' | undefined
	/** False: nothing is delivered to it, and its events are kept for a replay. A new endpoint is enabled unless you set it. */
	enabled?: boolean | undefined
}

export interface ListWebhookDeliveriesInput {
	/** Only deliveries with this status. */
	status?: 'PENDING' | 'DELIVERED' | 'FAILED' | 'HELD' | undefined
	/** Only events of this type. */
	type?: string | undefined
	/** Only events of this mail. */
	emailId?: string | undefined
	/** Only events of this contact and its mails. */
	contactId?: string | undefined
	/** Only events since then. */
	from?: string | undefined
	/** Only events until then. */
	to?: string | undefined
	/** The `cursor` of the previous page. Leave it out for the first. */
	cursor?: string | undefined
	/** At most 100 */
	limit?: number | undefined
}

export interface ListWebhookDeliveriesAnswer {
	data: WebhookDelivery[]
	cursor?: string | undefined
	hasMore: boolean
	total: number
}

export interface TestWebhookEndpointInput {
	/** The type of the sample. `email.sent` unless you set it. */
	type?: string | undefined
}

export interface ReplayWebhooksInput {
	/** The beginning of the period. */
	from: string
	/** Its end. */
	to: string
	/** All types unless you list some. */
	types?: string[] | undefined
	/** `failed`: what was given up or kept while the endpoint was disabled. `all`: also what was delivered. `failed` unless you set it. */
	only?: 'failed' | 'all' | undefined
}

export interface ReplayWebhooksAnswer {
	message: string
	jobId: string
}

export interface CreateCheckoutInput {
	/** The currency of the subscription. */
	currency?: 'usd' | 'eur' | 'gbp' | undefined
}

export interface UpdateBillingLimitsInput {
	/** How many mails a month. Null removes the limit. */
	workflows?: number | null | undefined
	/** How many mails a month. Null removes the limit. */
	campaigns?: number | null | undefined
	/** How many mails a month. Null removes the limit. */
	transactional?: number | null | undefined
	/** How many mails a month. Null removes the limit. */
	inbound?: number | null | undefined
}

/** An event as its sender documents it, signed in the headers over its bytes */
export interface ReceiveStripeEventInput {
	/** What happened. */
	type: string
	/** The record that it is about. */
	data: unknown
}

export interface ListMailboxSummariesInput {
	/** Part of an address or a subject */
	search?: string | undefined
	/** The `cursor` of the previous page. Leave it out for the first. */
	cursor?: string | undefined
	/** At most 100 */
	limit?: number | undefined
}

export interface ListMailboxSummariesAnswer {
	data: MailboxSummary[]
	cursor?: string | undefined
	hasMore: boolean
	total: number
}

export interface UpdateMailboxMessageInput {
	/** Whether the mail counts as read. */
	read: boolean
}

export interface GetMailboxBodyInput {
	/** Load the tracking pixel */
	pixel?: boolean | undefined
}

export interface ShowMailboxInput {
	/** The mail to show. */
	id?: string | undefined
	/** The part of the mail to show. */
	view?: string | undefined
	/** Part of an address or a subject. */
	search?: string | undefined
	/** Mails older than this one */
	before?: string | undefined
}

export interface ListMailboxMessagesInput {
	/** The whole address */
	to?: string | undefined
	/** Part of the subject */
	subject?: string | undefined
	/** At most 1000 */
	limit?: number | undefined
	/** Mails older than this one */
	before?: string | undefined
}

export interface ListMailboxMessagesAnswer {
	messages: MailboxMessage[]
}

export interface Api {
	/**
	 * Send a mail to one or more recipients.
	 *
	 * Accepted mail is delivered by a durable workflow; follow it at GET /emails/{id}. Contacts are created or updated.
	 *
	 * `POST /v1/send`
	 */
	send(input: WithReact<SendMailInput>, options?: RequestOptions): Promise<SendResult>

	/**
	 * Send up to 100 messages in one request.
	 *
	 * Either all messages are accepted, in one transaction, or none. The results are in the order of the messages. An error names its message by its place, from 0: `1.to`. For the rate limit each message counts as a request, and a body of more than 1 MB as 100.
	 *
	 * `POST /v1/send/batch`
	 */
	sendBatch(
		input: WithReact<SendBatchInput[number]>[],
		options?: RequestOptions,
	): Promise<BatchResult>

	/**
	 * Track an event of a contact.
	 *
	 * The contact is created if missing, and the data is stored on it.
	 *
	 * `POST /v1/track`
	 */
	track(input: TrackedEvent, options?: RequestOptions): Promise<TrackAnswer>

	/**
	 * Check an email address.
	 *
	 * Checks the address and its domain in DNS, for at most 3 seconds. Sends nothing. Of many checks at once, some first wait up to 3 seconds for their turn, and get 429 after that.
	 *
	 * `POST /v1/verify`
	 */
	verify(input: VerifyAddressInput, options?: RequestOptions): Promise<AddressVerdict>

	service: ServiceApi

	auth: AuthApi

	projects: ProjectsApi

	events: EventsApi

	executions: ExecutionsApi

	contacts: ContactsApi

	segments: SegmentsApi

	emails: EmailsApi

	suppressions: SuppressionsApi

	pages: PagesApi

	publicContacts: PublicContactsApi

	templates: TemplatesApi

	workflows: WorkflowsApi

	campaigns: CampaignsApi

	activity: ActivityApi

	analytics: AnalyticsApi

	domains: DomainsApi

	uploads: UploadsApi

	providers: ProvidersApi

	webhookEndpoints: WebhookEndpointsApi

	webhookDeliveries: WebhookDeliveriesApi

	billing: BillingApi

	mailbox: MailboxApi
}

export interface ServiceApi {
	/**
	 * Check whether mail can flow.
	 *
	 * `degraded`: requests are accepted and mail waits, for Temporal, a worker or the mail provider to return. `unavailable`, with status 503: the database is away.
	 *
	 * `GET /health`
	 */
	health(options?: RequestOptions): Promise<Health>

	/**
	 * Get the integrations that are enabled.
	 *
	 * Shows what this installation offers, such as billing, image storage and providers to log in with. It needs no key. The mailbox is enabled only for callers on the machine itself.
	 *
	 * `GET /config`
	 */
	config(options?: RequestOptions): Promise<ServiceConfig>
}

export interface AuthApi {
	/**
	 * Log in; sets the session cookie.
	 *
	 * The answer to a wrong password and to an unknown address is the same. Too many tries from one network or for one address are refused with 429.
	 *
	 * `POST /auth/login`
	 */
	logIn(input: LogInInput, options?: RequestOptions): Promise<Account>

	/**
	 * Create an account; sets the session cookie and sends a verification mail.
	 *
	 * Refused with 403 if this installation has disabled sign-ups. Projects can be created before the address is verified.
	 *
	 * `POST /auth/signup`
	 */
	signUp(input: SignUpInput, options?: RequestOptions): Promise<Account>

	/**
	 * End the session, clear its cookie.
	 *
	 * Ends only the session of this cookie. Without a session it does nothing and succeeds.
	 *
	 * `GET /auth/logout`
	 */
	logOut(options?: RequestOptions): Promise<void>

	/**
	 * Get the current user.
	 *
	 * The account of the session, and whether its address is verified.
	 *
	 * `GET /users/@me`
	 */
	user(options?: RequestOptions): Promise<GetUserAnswer>

	/**
	 * Send the verification mail again.
	 *
	 * Each mail has a new link. Too many requests are refused with 429.
	 *
	 * `POST /auth/request-verification`
	 */
	requestVerification(options?: RequestOptions): Promise<Message>

	/**
	 * Send a mail with a link to set a new password.
	 *
	 * The answer is the same whether there is such an account or not.
	 *
	 * `POST /auth/request-password-reset`
	 */
	requestPasswordReset(input: RequestPasswordResetInput, options?: RequestOptions): Promise<Message>

	/**
	 * Show the page that verifies an address.
	 *
	 * The page behind the link in our mail. Opening it changes nothing: the button on it does.
	 *
	 * `GET /auth/verify-email`
	 */
	showVerifyEmail(input?: ShowVerifyEmailInput, options?: RequestOptions): Promise<string>

	/**
	 * Verify an address with the token from our mail.
	 *
	 * The token works once. No session is needed, so the link works in any browser.
	 *
	 * `POST /auth/verify-email`
	 */
	verifyEmail(input: VerifyEmailInput, options?: RequestOptions): Promise<Message>

	/**
	 * Show the page that sets a new password.
	 *
	 * The page behind the link in our mail. Opening it changes nothing: the form on it does.
	 *
	 * `GET /auth/reset-password`
	 */
	showResetPassword(input?: ShowResetPasswordInput, options?: RequestOptions): Promise<string>

	/**
	 * Set a new password with the token from our mail; ends all sessions.
	 *
	 * If the address was not verified before, the keys of the account’s projects are replaced, their other members and open invitations are removed, and their webhook endpoints are disabled and get new secrets. No data is deleted.
	 *
	 * `POST /auth/reset-password`
	 */
	resetPassword(input: ResetPasswordInput, options?: RequestOptions): Promise<SecuredAccount>

	/**
	 * Show the page that accepts an invitation.
	 *
	 * The page behind the link in our mail. Opening it changes nothing: the button on it does.
	 *
	 * `GET /auth/accept-invitation`
	 */
	showAcceptInvitation(input?: ShowAcceptInvitationInput, options?: RequestOptions): Promise<string>

	/**
	 * Join a project with the token from our mail.
	 *
	 * A password is required unless there is an account with a verified address. It replaces the password of an unverified account and ends its sessions. The keys of that account’s projects are replaced, their other members and open invitations are removed, and their webhook endpoints are disabled and get new secrets.
	 *
	 * `POST /auth/accept-invitation`
	 */
	acceptInvitation(input: AcceptInvitationInput, options?: RequestOptions): Promise<SecuredAccount>

	/**
	 * Log in with the link that npm start prints.
	 *
	 * Sets the session cookie of the owner and redirects to `/`. The link works once, for a day, and only on the machine that Tempost runs on. A link that was used shows a page that says so.
	 *
	 * `GET /auth/local`
	 */
	logInLocally(input?: LogInLocallyInput, options?: RequestOptions): Promise<string>

	/**
	 * List the providers to log in with.
	 *
	 * The providers that this installation is configured for. Each has a page at /auth/{provider}.
	 *
	 * `GET /auth/oauth-config`
	 */
	getOauthConfig(options?: RequestOptions): Promise<GetOauthConfigAnswer>

	/**
	 * Log in with GitHub or Google.
	 *
	 * Redirects a browser to the provider. Programs log in with POST /auth/login.
	 *
	 * `GET /auth/{provider}`
	 */
	beginOauth(provider: string, options?: RequestOptions): Promise<string>

	/**
	 * Finish logging in with GitHub or Google.
	 *
	 * The provider redirects the browser here. The page sets the session cookie, and creates an account for a new address.
	 *
	 * `GET /auth/{provider}/callback`
	 */
	finishOauth(provider: string, input?: FinishOauthInput, options?: RequestOptions): Promise<string>
}

export interface ProjectsApi {
	/**
	 * List the members of a project.
	 *
	 * Members with their roles. People who have been invited appear once they accept.
	 *
	 * `GET /projects/{id}/members`
	 */
	listMembers(id: string, options?: RequestOptions): Promise<Member[]>

	/**
	 * Add a member, or invite somebody without a verified account by mail.
	 *
	 * A member who is added is notified by mail, too.
	 *
	 * `POST /projects/{id}/members`
	 */
	addMember(id: string, input: AddMemberInput, options?: RequestOptions): Promise<AddMemberAnswer>

	/**
	 * Change a member's role.
	 *
	 * You can’t change your own role, and the role of the owner never changes.
	 *
	 * `PATCH /projects/{id}/members/{userId}`
	 */
	updateMember(
		id: string,
		userId: string,
		input: UpdateMemberInput,
		options?: RequestOptions,
	): Promise<Member>

	/**
	 * Remove a member.
	 *
	 * You can’t remove yourself or the owner.
	 *
	 * `DELETE /projects/{id}/members/{userId}`
	 */
	removeMember(id: string, userId: string, options?: RequestOptions): Promise<void>

	/**
	 * List the pending invitations to a project, newest first.
	 *
	 * People who were invited and have not accepted yet. Expired invitations are not listed.
	 *
	 * `GET /projects/{id}/invitations`
	 */
	listInvitations(id: string, options?: RequestOptions): Promise<PendingInvitation[]>

	/**
	 * Revoke an invitation.
	 *
	 * The link in its mail stops working at once.
	 *
	 * `DELETE /projects/{id}/invitations/{invitationId}`
	 */
	revokeInvitation(id: string, invitationId: string, options?: RequestOptions): Promise<void>

	/**
	 * Send an invitation again.
	 *
	 * The new mail has a new link that works for seven days; the link in the earlier mail stops working.
	 *
	 * `POST /projects/{id}/invitations/{invitationId}/resend`
	 */
	resendInvitation(
		id: string,
		invitationId: string,
		options?: RequestOptions,
	): Promise<PendingInvitation>

	/**
	 * List changes to a project, newest first.
	 *
	 * Every request that changed something, by a user or by a key. Bodies are not kept. `total` is counted up to 10,000.
	 *
	 * `GET /projects/{id}/audit`
	 */
	listAuditEntries(
		id: string,
		input?: ListAuditEntriesInput,
		options?: RequestOptions,
	): Paged<ListAuditEntriesAnswer['data'][number], ListAuditEntriesAnswer>

	/**
	 * Get the first steps that a project has completed.
	 *
	 * Shows which first steps are done, such as a verified domain and an enabled workflow.
	 *
	 * `GET /projects/{id}/setup-state`
	 */
	setupState(id: string, options?: RequestOptions): Promise<SetupState>

	/**
	 * Get bounces, complaints and suspensions.
	 *
	 * Rates of the last days, and the limits above which a project is suspended.
	 *
	 * `GET /projects/{id}/security`
	 */
	security(id: string, options?: RequestOptions): Promise<ProjectSecurity>

	/**
	 * Get bounces, complaints and suspensions.
	 *
	 * Rates of the last days, and the limits above which a project is suspended.
	 *
	 * `GET /users/@me/projects/{id}/security`
	 */
	userSecurity(id: string, options?: RequestOptions): Promise<ProjectSecurity>

	/**
	 * Get the secret that signs the project's webhooks (Standard Webhooks).
	 *
	 * Verify the header webhook-signature of each request with it. Keep it as secret as the secret key.
	 *
	 * `GET /projects/{id}/webhook-secret`
	 */
	getWebhookSecret(id: string, options?: RequestOptions): Promise<WebhookSecret>

	/**
	 * Change the secret of the project's webhooks.
	 *
	 * Both the new and the old secret sign for a day.
	 *
	 * `POST /projects/{id}/webhook-secret`
	 */
	regenerateWebhookSecret(id: string, options?: RequestOptions): Promise<WebhookSecret>

	/**
	 * Get what moves a project’s mail, and what holds it up.
	 *
	 * Health, backlog, mails in doubt, and the newest active runs. Counts end at 10,000. Executions are listed if they are among the newest 2,000.
	 *
	 * `GET /projects/{id}/system`
	 */
	getSystem(id: string, options?: RequestOptions): Promise<System>

	/**
	 * List the projects of the user.
	 *
	 * Every project that the user is a member of, with the role in it. Secret keys are masked.
	 *
	 * `GET /users/@me/projects`
	 */
	list(options?: RequestOptions): Promise<Project[]>

	/**
	 * Create a project; the only answer with its secret key in full.
	 *
	 * Store the secret key: later answers mask it. The user becomes the owner.
	 *
	 * `POST /users/@me/projects`
	 */
	create(input: CreateProjectInput, options?: RequestOptions): Promise<Project>

	/**
	 * Change name, tracking, language or postal address of a project.
	 *
	 * Members that you leave out stay as they are. Tracking applies to mails that are sent from now on.
	 *
	 * `PATCH /users/@me/projects/{id}`
	 */
	update(id: string, input?: UpdateProjectInput, options?: RequestOptions): Promise<Project>

	/**
	 * Delete a project with all its data permanently.
	 *
	 * The keys stop working at once. The rows of the project are removed in the background.
	 *
	 * `DELETE /users/@me/projects/{id}`
	 */
	delete(id: string, options?: RequestOptions): Promise<void>

	/**
	 * Replace both keys at once; the old ones stop working.
	 *
	 * There is no grace period, and one key can’t be replaced alone. Store the secret key: later answers mask it.
	 *
	 * `POST /users/@me/projects/{id}/regenerate-keys`
	 */
	regenerateKeys(id: string, options?: RequestOptions): Promise<Project>

	/**
	 * Delete all data of a project permanently; domains, members and keys stay.
	 *
	 * The project is empty for the API at once. Its rows are removed in the background.
	 *
	 * `POST /users/@me/projects/{id}/reset`
	 */
	reset(id: string, options?: RequestOptions): Promise<Message>
}

export interface EventsApi {
	/**
	 * Track an event.
	 *
	 * Takes the body of POST /v1/track and answers like it, or { name, contactId?, emailId?, data? } and answers with the event.
	 *
	 * `POST /events/track`
	 */
	create(input: CreateEventInput, options?: RequestOptions): Promise<CreateEventAnswer>

	/**
	 * List the latest events.
	 *
	 * Newest first. Events of the service itself, such as email.open, are included.
	 *
	 * `GET /events`
	 */
	list(input?: ListEventsInput, options?: RequestOptions): Promise<ListEventsAnswer>

	/**
	 * Count events by name.
	 *
	 * Most frequent first, at most 10000.
	 *
	 * `GET /events/stats`
	 */
	stats(input?: GetEventStatsInput, options?: RequestOptions): Promise<GetEventStatsAnswer>

	/**
	 * List a contact's latest events.
	 *
	 * Newest first. Events of the service itself, such as email.open, are included.
	 *
	 * `GET /events/contact/{contactId}`
	 */
	listOfContact(
		contactId: string,
		input?: ListContactEventsInput,
		options?: RequestOptions,
	): Paged<ListContactEventsAnswer['events'][number], ListContactEventsAnswer>

	/**
	 * List the names of events, most frequent first.
	 *
	 * At most 10000.
	 *
	 * `GET /events/names`
	 */
	listNames(options?: RequestOptions): Promise<ListEventNamesAnswer>

	/**
	 * Get the uses of an event.
	 *
	 * Segments, campaigns and workflows that use the event. Check it before you delete or rename an event.
	 *
	 * `GET /events/{eventName}/usage`
	 */
	usage(eventName: string, options?: RequestOptions): Promise<EventUsage>

	/**
	 * Delete all events of a name.
	 *
	 * Refused with 409 while a segment, campaign or workflow uses the event. Events of the service itself can’t be deleted.
	 *
	 * `DELETE /events/{eventName}`
	 */
	delete(eventName: string, options?: RequestOptions): Promise<DeleteEventsAnswer>
}

export interface ExecutionsApi {
	/**
	 * List the executions of a workflow, newest first.
	 *
	 * Each with its contact and the step it is at. Executions that have ended are included.
	 *
	 * `GET /workflows/{id}/executions`
	 */
	list(
		id: string,
		input?: ListExecutionsInput,
		options?: RequestOptions,
	): Paged<ListExecutionsAnswer['data'][number], ListExecutionsAnswer>

	/**
	 * Start a workflow for a contact.
	 *
	 * Works with every type of trigger, but only while the workflow is enabled. Refused with 409 if the contact may not enter again.
	 *
	 * `POST /workflows/{id}/executions`
	 */
	start(id: string, input: StartExecutionInput, options?: RequestOptions): Promise<Execution>

	/**
	 * Get an execution with the steps it has been at.
	 *
	 * A step appears once for every visit, with its output or its error.
	 *
	 * `GET /workflows/{id}/executions/{executionId}`
	 */
	get(id: string, executionId: string, options?: RequestOptions): Promise<ExecutionWithSteps>

	/**
	 * Cancel an execution.
	 *
	 * A step that is running may still take effect, but no further step starts. An execution that has ended is refused with 409.
	 *
	 * `DELETE /workflows/{id}/executions/{executionId}`
	 */
	cancel(id: string, executionId: string, options?: RequestOptions): Promise<Execution>

	/**
	 * Cancel every active execution of a workflow.
	 *
	 * The answer counts the executions that were active. The workflow stays enabled, so new ones can start.
	 *
	 * `POST /workflows/{id}/executions/cancel-all`
	 */
	cancelAll(id: string, options?: RequestOptions): Promise<CancelExecutionsAnswer>

	/**
	 * Retry the step that failed.
	 *
	 * It keeps its version and its context. Only a failed execution can be retried.
	 *
	 * `POST /workflows/{id}/executions/{executionId}/retry`
	 */
	retry(id: string, executionId: string, options?: RequestOptions): Promise<Execution>

	/**
	 * Retry every failed execution of a workflow.
	 *
	 * Each continues as in a single retry. The answer counts them. Executions whose contact was deleted, or has an active execution, are left out. Of several of one contact, the newest is retried.
	 *
	 * `POST /workflows/{id}/executions/retry-failed`
	 */
	retryFailed(id: string, options?: RequestOptions): Promise<RetryExecutionsAnswer>
}

export interface ContactsApi {
	/**
	 * List the executions of a contact, newest first.
	 *
	 * Of all workflows, each with the step it is at. Executions that have ended are included.
	 *
	 * `GET /contacts/{id}/executions`
	 */
	listExecutions(
		id: string,
		input?: ListContactExecutionsInput,
		options?: RequestOptions,
	): Paged<ListContactExecutionsAnswer['data'][number], ListContactExecutionsAnswer>

	/**
	 * List the fields that contacts have.
	 *
	 * Each custom field has its most frequent type and the percentage of contacts that have it. At most 5000 custom fields are listed, the most frequent ones.
	 *
	 * `GET /contacts/fields`
	 */
	listFields(options?: RequestOptions): Promise<ListContactFieldsAnswer>

	/**
	 * List the distinct values of a custom field.
	 *
	 * Sorted: texts of up to 500 characters, numbers, then booleans. Objects and arrays are left out.
	 *
	 * `GET /contacts/fields/{field}/values`
	 */
	listFieldValues(
		field: string,
		input?: ListContactFieldValuesInput,
		options?: RequestOptions,
	): Promise<ListContactFieldValuesAnswer>

	/**
	 * Get the uses of a field.
	 *
	 * Segments, campaigns and workflows whose conditions name the field, and steps that set it. Check it before you delete a field. Texts are not searched: one that shows the field has a gap once the field is deleted.
	 *
	 * `GET /contacts/fields/{field}/usage`
	 */
	getFieldUsage(field: string, options?: RequestOptions): Promise<GetContactFieldUsageAnswer>

	/**
	 * Delete a custom field from every contact.
	 *
	 * If that takes too long for a request, a job does it: see /contacts/bulk/{jobId}.
	 *
	 * `DELETE /contacts/fields/{field}`
	 */
	deleteField(field: string, options?: RequestOptions): Promise<DeleteContactFieldAnswer>

	/**
	 * List contacts.
	 *
	 * `total` is counted for the first page only, and is 0 on later ones. A parameter that can’t be understood counts as not given.
	 *
	 * `GET /contacts`
	 */
	list(
		input?: ListContactsInput,
		options?: RequestOptions,
	): Paged<ListContactsAnswer['data'][number], ListContactsAnswer>

	/**
	 * Create a contact, or update the one with this address.
	 *
	 * The status is 201 for a new contact and 200 for an existing one. Data that you leave out stays as it is.
	 *
	 * `POST /contacts`
	 */
	upsert(input: CreateContactInput, options?: RequestOptions): Promise<UpsertedContact>

	/**
	 * List the contacts that match a condition.
	 *
	 * Takes the conditions of segments, and pages like GET /contacts. A page may have fewer contacts than its limit, although `hasMore` is true: then few contacts match, and the search continues with the next page.
	 *
	 * `POST /contacts/query`
	 */
	query(
		input?: QueryContactsInput,
		options?: RequestOptions,
	): Paged<QueryContactsAnswer['data'][number], QueryContactsAnswer>

	/**
	 * Get a contact.
	 *
	 * Includes all custom data. A contact of another project is a 404.
	 *
	 * `GET /contacts/{id}`
	 */
	get(id: string, options?: RequestOptions): Promise<Contact>

	/**
	 * Update a contact.
	 *
	 * Members that you leave out stay as they are. Changing `subscribed` creates the matching event.
	 *
	 * `PATCH /contacts/{id}`
	 */
	update(id: string, input?: UpdateContactInput, options?: RequestOptions): Promise<Contact>

	/**
	 * Delete a contact.
	 *
	 * Its mails and events stay, and the mails keep their address. With erase=true the person is removed from everything that is kept: mails, events, executions, job records and the suppression list. So a later import can add the address again, and an import that is running still adds its rows.
	 *
	 * `DELETE /contacts/{id}`
	 */
	delete(id: string, input?: DeleteContactInput, options?: RequestOptions): Promise<void>

	/**
	 * Look up which addresses belong to contacts.
	 *
	 * Texts that are not email addresses are returned under notFound.
	 *
	 * `POST /contacts/lookup`
	 */
	lookUp(input: LookUpContactsInput, options?: RequestOptions): Promise<LookUpContactsAnswer>

	/**
	 * Import contacts from a CSV file.
	 *
	 * Separated by comma, semicolon or tab; UTF-8. The header needs `email` and may have `subscribed`; other columns become custom data. Later rows win.
	 *
	 * `POST /contacts/import`
	 */
	import(input: ImportContactsInput, options?: RequestOptions): Promise<ImportContactsAnswer>

	/**
	 * List imports, newest first.
	 *
	 * Each with its progress, its counts once it has ended, and the job that undoes it. `GET /contacts/import/{jobId}` has the errors of its rows.
	 *
	 * `GET /contacts/import`
	 */
	listImports(
		input?: ListImportsInput,
		options?: RequestOptions,
	): Paged<ListImportsAnswer['data'][number], ListImportsAnswer>

	/**
	 * Get an import, or its undo.
	 *
	 * Poll it until `finishedAt` is set. `result` then says how many contacts were created, updated or refused.
	 *
	 * `GET /contacts/import/{jobId}`
	 */
	getImport(jobId: string, options?: RequestOptions): Promise<ImportJob>

	/**
	 * Cancel an import, or its undo.
	 *
	 * Contacts that are already imported stay. A cancelled import can be undone.
	 *
	 * `DELETE /contacts/import/{jobId}`
	 */
	cancelImport(jobId: string, options?: RequestOptions): Promise<ImportJob>

	/**
	 * Get all rows that an import could not read, as CSV.
	 *
	 * They are kept for 90 days.
	 *
	 * `GET /contacts/import/{jobId}/errors`
	 */
	downloadImportErrors(jobId: string, options?: RequestOptions): Promise<string>

	/**
	 * Undo an import within 7 days.
	 *
	 * Removes the contacts it created and restores those it changed, unless they were changed since.
	 *
	 * `POST /contacts/import/{jobId}/undo`
	 */
	undoImport(jobId: string, options?: RequestOptions): Promise<UndoImportAnswer>

	/**
	 * Subscribe many contacts.
	 *
	 * Takes at most 1,000 `contactIds`, or `mode: "query"` with a `filter`: all contacts that exist now and match it when the job begins, except `excludeIds`. An empty filter matches all contacts.
	 *
	 * `POST /contacts/bulk-subscribe`
	 */
	subscribeMany(input: BulkSelection, options?: RequestOptions): Promise<SubscribeContactsAnswer>

	/**
	 * Unsubscribe many contacts.
	 *
	 * Takes at most 1,000 `contactIds`, or `mode: "query"` with a `filter`: all contacts that exist now and match it when the job begins, except `excludeIds`. An empty filter matches all contacts.
	 *
	 * `POST /contacts/bulk-unsubscribe`
	 */
	unsubscribeMany(
		input: BulkSelection,
		options?: RequestOptions,
	): Promise<UnsubscribeContactsAnswer>

	/**
	 * Delete many contacts.
	 *
	 * Takes at most 1,000 `contactIds`, or `mode: "query"` with a `filter`: all contacts that exist now and match it when the job begins, except `excludeIds`. An empty filter matches all contacts.
	 *
	 * `POST /contacts/bulk-delete`
	 */
	deleteMany(input: BulkSelection, options?: RequestOptions): Promise<DeleteContactsAnswer>

	/**
	 * Get a bulk job.
	 *
	 * Poll it until `finishedAt` is set. `result` then says how many contacts were changed.
	 *
	 * `GET /contacts/bulk/{jobId}`
	 */
	getBulkJob(jobId: string, options?: RequestOptions): Promise<BulkJob>

	/**
	 * Cancel a bulk job.
	 *
	 * Contacts that were changed already stay changed.
	 *
	 * `DELETE /contacts/bulk/{jobId}`
	 */
	cancelBulkJob(jobId: string, options?: RequestOptions): Promise<BulkJob>
}

export interface SegmentsApi {
	/**
	 * List segments, newest first.
	 *
	 * The whole list, without pages. `memberCount` is the count of the last computation.
	 *
	 * `GET /segments`
	 */
	list(options?: RequestOptions): Promise<Segment[]>

	/**
	 * Create a segment.
	 *
	 * The contacts that match are counted at once. With `trackMembership`, events start with the first computation, which also counts them if that takes longer than 30 seconds.
	 *
	 * `POST /segments`
	 */
	create(input: CreateSegmentInput, options?: RequestOptions): Promise<Segment>

	/**
	 * Get a segment.
	 *
	 * `memberCount` is the count of the last computation. POST /segments/{id}/refresh counts again.
	 *
	 * `GET /segments/{id}`
	 */
	get(id: string, options?: RequestOptions): Promise<Segment>

	/**
	 * Change a segment.
	 *
	 * The type can’t be changed. A new condition is counted at once, and applies at once to filters that name the segment. Stored members and events follow with the next compute.
	 *
	 * `PATCH /segments/{id}`
	 */
	update(id: string, input?: UpdateSegmentInput, options?: RequestOptions): Promise<ChangedSegment>

	/**
	 * Delete a segment.
	 *
	 * Its contacts stay. Refused with 409 while a campaign, a workflow or another segment uses it.
	 *
	 * `DELETE /segments/{id}`
	 */
	delete(id: string, options?: RequestOptions): Promise<void>

	/**
	 * Compute the members of a tracked segment.
	 *
	 * Stores the current members and emits entry and exit events. This also happens every 5 minutes.
	 *
	 * `POST /segments/{id}/compute`
	 */
	compute(id: string, options?: RequestOptions): Promise<ComputeSegmentAnswer>

	/**
	 * Count the members of a segment again.
	 *
	 * Stores no membership and emits no events.
	 *
	 * `POST /segments/{id}/refresh`
	 */
	refresh(id: string, options?: RequestOptions): Promise<RefreshSegmentAnswer>

	/**
	 * List the members of a segment.
	 *
	 * For a dynamic segment, the contacts that match its condition now.
	 *
	 * `GET /segments/{id}/contacts`
	 */
	listContacts(
		id: string,
		input?: ListSegmentContactsInput,
		options?: RequestOptions,
	): Paged<ListSegmentContactsAnswer['data'][number], ListSegmentContactsAnswer>

	/**
	 * Add contacts to a static segment.
	 *
	 * Contacts that are already members are not counted. A DYNAMIC segment is refused.
	 *
	 * `POST /segments/{id}/members`
	 */
	addMembers(
		id: string,
		input: AddSegmentMembersInput,
		options?: RequestOptions,
	): Promise<AddSegmentMembersAnswer>

	/**
	 * Remove contacts from a static segment.
	 *
	 * The contacts themselves stay. Addresses that are not members are ignored.
	 *
	 * `DELETE /segments/{id}/members`
	 */
	removeMembers(
		id: string,
		input: RemoveSegmentMembersInput,
		options?: RequestOptions,
	): Promise<RemoveSegmentMembersAnswer>

	/**
	 * Count the contacts that a condition finds.
	 *
	 * Stores nothing. Counting ends after 5 seconds; then `count` is null, and `isCounted` is false.
	 *
	 * `POST /segments/preview`
	 */
	preview(input: PreviewSegmentInput, options?: RequestOptions): Promise<SegmentPreview>

	/**
	 * Get the uses of a segment.
	 *
	 * Other segments, campaigns that have not ended, and workflows that use it or its events. While there are any, it can’t be deleted.
	 *
	 * `GET /segments/{id}/usage`
	 */
	usage(id: string, options?: RequestOptions): Promise<SegmentUsage>
}

export interface EmailsApi {
	/**
	 * List mails, newest first.
	 *
	 * A page ends early if its bodies exceed 16 MB or take long to render. `total` is counted for a second: with a filter that leaves too many mails, and with `search`, `from` or `to`, only up to 10,000.
	 *
	 * `GET /emails`
	 */
	list(
		input?: ListEmailsInput,
		options?: RequestOptions,
	): Paged<ListEmailsAnswer['data'][number], ListEmailsAnswer>

	/**
	 * Get a mail with its attempts.
	 *
	 * Every attempt to deliver it is listed with the answer of the provider, and so is what its reader did. Start here to explain why a mail arrived or did not.
	 *
	 * `GET /emails/{id}`
	 */
	get(id: string, options?: RequestOptions): Promise<EmailWithAttempts>

	/**
	 * Move a scheduled mail to another time.
	 *
	 * Only a mail that is SCHEDULED can be moved. Either it is moved, or it is sent at its old time and the answer is 409.
	 *
	 * `PATCH /emails/{id}`
	 */
	update(id: string, input: UpdateEmailInput, options?: RequestOptions): Promise<Email>

	/**
	 * Settle a mail that is UNCERTAIN.
	 *
	 * `sent` counts it as sent; `retry` sends it again, at the risk of a second copy.
	 *
	 * `POST /emails/{id}/resolve`
	 */
	resolve(id: string, input: ResolveEmailInput, options?: RequestOptions): Promise<Email>

	/**
	 * Cancel a scheduled mail.
	 *
	 * Only a mail that is SCHEDULED can be cancelled. Either it is cancelled, or it is sent and the answer is 409.
	 *
	 * `POST /emails/{id}/cancel`
	 */
	cancel(id: string, options?: RequestOptions): Promise<Email>

	/**
	 * Get the HTML, text and headers of a mail.
	 *
	 * Composed as it was sent, or as it would be sent now, but without the tracking pixel and with the original links. A mail of a campaign is rendered with the current data of its contact. Answers 409 once its content has been deleted. Show the HTML in a sandboxed frame.
	 *
	 * `GET /emails/{id}/parts`
	 */
	getParts(id: string, options?: RequestOptions): Promise<EmailParts>

	/**
	 * Get the source of a mail.
	 *
	 * Composed as it was sent, or as it would be sent now, but without the tracking pixel and with the original links. A mail of a campaign is rendered with the current data of its contact. It has no DKIM signature and no attachments.
	 *
	 * `GET /emails/{id}/source`
	 */
	getSource(id: string, options?: RequestOptions): Promise<string>

	/**
	 * Send a mail again.
	 *
	 * Creates a new mail to the same person with the same content and files, but without its copies. A mail of a campaign is rendered with the current data of its contact. Refused with 409 while the mail is under way, once its content has been deleted, and if its address is suppressed or a consent is missing.
	 *
	 * `POST /emails/{id}/resend`
	 */
	resend(id: string, options?: RequestOptions): Promise<ResentEmail>
}

export interface SuppressionsApi {
	/**
	 * List addresses that get no mail, newest first.
	 *
	 * Addresses that bounced, complained or were added by hand. No mail of any type is sent to them.
	 *
	 * `GET /suppressions`
	 */
	list(
		input?: ListSuppressionsInput,
		options?: RequestOptions,
	): Paged<ListSuppressionsAnswer['data'][number], ListSuppressionsAnswer>

	/**
	 * Add an address to the suppression list.
	 *
	 * An address that is already on the list keeps its entry, and the status is 200. Only UNSUBSCRIBED_ALL is replaced by your reason: its reader could take it back.
	 *
	 * `POST /suppressions`
	 */
	create(input: CreateSuppressionInput, options?: RequestOptions): Promise<Suppression>

	/**
	 * Remove an address from the suppression list.
	 *
	 * An address that still bounces will be suppressed again.
	 *
	 * `DELETE /suppressions/{email}`
	 */
	delete(email: string, options?: RequestOptions): Promise<void>
}

export interface PagesApi {
	/**
	 * Show the unsubscribe page.
	 *
	 * The page behind the link in a mail. Opening it changes nothing: the button on it does.
	 *
	 * `GET /unsubscribe/{id}`
	 */
	unsubscribe(id: string, input?: ShowUnsubscribeInput, options?: RequestOptions): Promise<string>

	/**
	 * Unsubscribe, from the page or by one click (RFC 8058).
	 *
	 * A body of `List-Unsubscribe=One-Click` is answered in plain text.
	 *
	 * `POST /unsubscribe/{id}`
	 */
	confirmUnsubscribe(
		id: string,
		input?: UnsubscribeInput,
		options?: RequestOptions,
	): Promise<string>

	/**
	 * Show the subscribe page.
	 *
	 * The page behind the link in a mail. Opening it changes nothing: the button on it does.
	 *
	 * `GET /subscribe/{id}`
	 */
	subscribe(id: string, input?: ShowSubscribeInput, options?: RequestOptions): Promise<string>

	/**
	 * Subscribe, from the page.
	 *
	 * The form of the page. Programs use POST /contacts/public/{id}/subscribe.
	 *
	 * `POST /subscribe/{id}`
	 */
	confirmSubscribe(id: string, input?: SubscribeInput, options?: RequestOptions): Promise<string>

	/**
	 * Show the page of mail preferences.
	 *
	 * The page behind the link in a mail. It shows whether the contact has subscribed.
	 *
	 * `GET /manage/{id}`
	 */
	manage(id: string, input?: ShowManageInput, options?: RequestOptions): Promise<string>

	/**
	 * Choose what mail to get, from the page.
	 *
	 * Stopping all mail, or allowing it again, requires an `e` that names a mail to this contact.
	 *
	 * `POST /manage/{id}`
	 */
	saveManage(id: string, input?: ManageInput, options?: RequestOptions): Promise<string>
}

export interface PublicContactsApi {
	/**
	 * Get the public part of a contact.
	 *
	 * Needs no key: the id from a link in a mail is enough. Custom data is never included.
	 *
	 * `GET /contacts/public/{id}`
	 */
	get(id: string, options?: RequestOptions): Promise<GetPublicContactAnswer>

	/**
	 * Let a contact subscribe.
	 *
	 * Needs no key: the id from a link in a mail is enough. A change creates the event contact.subscribed.
	 *
	 * `POST /contacts/public/{id}/subscribe`
	 */
	subscribe(
		id: string,
		input?: SubscribePublicContactInput,
		options?: RequestOptions,
	): Promise<PublicContact>

	/**
	 * Let a contact unsubscribe.
	 *
	 * Needs no key: the id from a link in a mail is enough. A change creates the event contact.unsubscribed.
	 *
	 * `POST /contacts/public/{id}/unsubscribe`
	 */
	unsubscribe(
		id: string,
		input?: UnsubscribePublicContactInput,
		options?: RequestOptions,
	): Promise<PublicContact>
}

export interface TemplatesApi {
	/**
	 * List templates.
	 *
	 * Includes the bodies. A page size over 100 counts as 100.
	 *
	 * `GET /templates`
	 */
	list(
		input?: ListTemplatesInput,
		options?: RequestOptions,
	): Paged<ListTemplatesAnswer['data'][number], ListTemplatesAnswer>

	/**
	 * Create a template.
	 *
	 * A new template is MARKETING unless you set its type, and /v1/send refuses MARKETING mail to contacts who have not subscribed.
	 *
	 * `POST /templates`
	 */
	create(input: WithReact<CreateTemplateInput>, options?: RequestOptions): Promise<Template>

	/**
	 * Get a template.
	 *
	 * Returns the template as it is stored, with its placeholders. POST /templates/{id}/preview renders it.
	 *
	 * `GET /templates/{id}`
	 */
	get(id: string, options?: RequestOptions): Promise<Template>

	/**
	 * Change a template.
	 *
	 * Members that you leave out stay as they are. Mails that have been sent keep their content. With the header `If-Match: "<updatedAt>"`, a template that has changed since is refused (409).
	 *
	 * `PATCH /templates/{id}`
	 */
	update(
		id: string,
		input?: WithReact<UpdateTemplateInput>,
		options?: ChangeOptions,
	): Promise<Template>

	/**
	 * Delete a template.
	 *
	 * Refused with 409 while a workflow or an unsent campaign uses it.
	 *
	 * `DELETE /templates/{id}`
	 */
	delete(id: string, options?: RequestOptions): Promise<void>

	/**
	 * Copy a template.
	 *
	 * The copy has the same content and a new name.
	 *
	 * `POST /templates/{id}/duplicate`
	 */
	duplicate(id: string, options?: RequestOptions): Promise<Template>

	/**
	 * Get the uses of a template.
	 *
	 * Campaigns and workflow steps that refer to it. Check it before you delete a template. If counting takes more than a second, `emailsSent` has at most 10,000 mails beside those of campaigns.
	 *
	 * `GET /templates/{id}/usage`
	 */
	usage(id: string, options?: RequestOptions): Promise<TemplateUsage>

	/**
	 * Render a template.
	 *
	 * Uses the data that you give, and the data of a contact if you name one.
	 *
	 * `POST /templates/{id}/preview`
	 */
	preview(
		id: string,
		input?: PreviewTemplateInput,
		options?: RequestOptions,
	): Promise<TemplatePreview>

	/**
	 * Render content that is not stored.
	 *
	 * For editors: the same answer as POST /templates/{id}/preview, while the template is being written. Nothing is stored.
	 *
	 * `POST /templates/preview`
	 */
	previewContent(
		input: WithReact<PreviewContentInput>,
		options?: RequestOptions,
	): Promise<TemplatePreview>

	/**
	 * Send a test of a template to one address.
	 *
	 * Rendered with the data of the named contact, or else of the contact that has the address, if there is one. Tests are not tracked. The usage of the month counts them as transactional mails.
	 *
	 * `POST /templates/{id}/test`
	 */
	test(id: string, input: TestTemplateInput, options?: RequestOptions): Promise<Message>
}

export interface WorkflowsApi {
	/**
	 * List the fields that a CONDITION step can compare.
	 *
	 * The fields of contacts and of the latest events with this name. Without a name, the latest events with the most frequent names are used. Each field has its most frequent type.
	 *
	 * `GET /workflows/fields`
	 */
	listFields(
		input?: ListWorkflowFieldsInput,
		options?: RequestOptions,
	): Promise<ListWorkflowFieldsAnswer>

	/**
	 * List workflows.
	 *
	 * Without steps and transitions: GET /workflows/{id} includes them. A page size over 100 counts as 100.
	 *
	 * `GET /workflows`
	 */
	list(
		input?: ListWorkflowsInput,
		options?: RequestOptions,
	): Paged<ListWorkflowsAnswer['data'][number], ListWorkflowsAnswer>

	/**
	 * Create a workflow.
	 *
	 * A new workflow starts with an event, is not enabled, and has one step: the trigger.
	 *
	 * `POST /workflows`
	 */
	create(input: CreateWorkflowInput, options?: RequestOptions): Promise<Workflow>

	/**
	 * Get a workflow with its steps and transitions.
	 *
	 * Returns the draft, with the number of contacts at each step. Executions run the version that was frozen when the workflow was enabled.
	 *
	 * `GET /workflows/{id}`
	 */
	get(id: string, options?: RequestOptions): Promise<WorkflowWithSteps>

	/**
	 * Change a workflow, enable or disable it.
	 *
	 * Enabling checks the whole workflow and freezes a version. Executions keep the version they started with. Disabling stops only new executions.
	 *
	 * `PATCH /workflows/{id}`
	 */
	update(
		id: string,
		input?: UpdateWorkflowInput,
		options?: RequestOptions,
	): Promise<ChangedWorkflow>

	/**
	 * Delete a workflow.
	 *
	 * Refused with 409 while an execution is active. Executions that have ended are deleted with it.
	 *
	 * `DELETE /workflows/{id}`
	 */
	delete(id: string, options?: RequestOptions): Promise<void>

	/**
	 * Copy a workflow.
	 *
	 * The copy has the same steps and transitions, and is not enabled. In an hour a project gets at most 1,000 copies, and fewer of large workflows: 100 of 1 MB.
	 *
	 * `POST /workflows/{id}/duplicate`
	 */
	duplicate(id: string, options?: RequestOptions): Promise<Workflow>

	/**
	 * Check a workflow before it is enabled.
	 *
	 * Finds what enabling would refuse, step by step. Changes nothing.
	 *
	 * `POST /workflows/{id}/validate`
	 */
	validate(id: string, options?: RequestOptions): Promise<WorkflowCheck>

	/**
	 * Count how far executions have come.
	 *
	 * Of the newest 10,000 executions, in all versions: how many have been at each step, completed it and failed at it. GET /workflows/{id} says how many are at each step now.
	 *
	 * `GET /workflows/{id}/passage`
	 */
	getPassage(id: string, options?: RequestOptions): Promise<WorkflowPassage>

	/**
	 * Add a step to a workflow.
	 *
	 * Unless autoConnect is false, the newest step without an outgoing transition is linked to it: a CONDITION by its first branch, a WAIT_FOR_EVENT by event. A workflow has at most 500 steps, 1,000 transitions, and 1 MB of configurations.
	 *
	 * `POST /workflows/{id}/steps`
	 */
	createStep(id: string, input: NewStep, options?: RequestOptions): Promise<Step>

	/**
	 * Change a step.
	 *
	 * The type can’t be changed. A new configuration replaces the whole old one.
	 *
	 * `PATCH /workflows/{id}/steps/{stepId}`
	 */
	updateStep(
		id: string,
		stepId: string,
		input?: UpdateStepInput,
		options?: RequestOptions,
	): Promise<Step>

	/**
	 * Delete a step.
	 *
	 * With splice=true, its incoming transitions are linked to its one target.
	 *
	 * `DELETE /workflows/{id}/steps/{stepId}`
	 */
	deleteStep(
		id: string,
		stepId: string,
		input?: DeleteStepInput,
		options?: RequestOptions,
	): Promise<void>

	/**
	 * Add a transition between two steps.
	 *
	 * A CONDITION needs a branch: yes or no, the id of a named branch, or default. A WAIT_FOR_EVENT takes event or timeout.
	 *
	 * `POST /workflows/{id}/transitions`
	 */
	createTransition(
		id: string,
		input: CreateTransitionInput,
		options?: RequestOptions,
	): Promise<Transition>

	/**
	 * Delete a transition.
	 *
	 * An enabled workflow gets a new version at once, and is refused with 422 if it would be incomplete.
	 *
	 * `DELETE /workflows/{id}/transitions/{transitionId}`
	 */
	deleteTransition(id: string, transitionId: string, options?: RequestOptions): Promise<void>

	/**
	 * Replace the trigger, steps and transitions of a workflow.
	 *
	 * All changes together make one new version of an enabled workflow, so no execution starts in between. Steps that you leave out are deleted; executions that are at them continue with their own version. With the header `If-Match: "<updatedAt>"`, a workflow that has changed since is refused (409).
	 *
	 * `PUT /workflows/{id}/graph`
	 */
	replaceGraph(id: string, input: WorkflowGraph, options?: ChangeOptions): Promise<ChangedWorkflow>

	/**
	 * Check a graph that is not stored yet.
	 *
	 * Finds what PUT /workflows/{id}/graph or enabling would refuse, step by step. Changes nothing.
	 *
	 * `POST /workflows/{id}/graph/validate`
	 */
	validateGraph(id: string, input: WorkflowGraph, options?: RequestOptions): Promise<WorkflowCheck>

	/**
	 * List the versions of a workflow, newest first.
	 *
	 * Enabling a workflow freezes a version, and so does every change to an enabled one. The current version and the 1000 before it are kept, and of older ones those that executions have used. At most the newest 10000 are listed.
	 *
	 * `GET /workflows/{id}/versions`
	 */
	listVersions(id: string, options?: RequestOptions): Promise<ListedWorkflowVersion[]>

	/**
	 * Get a version of a workflow.
	 *
	 * The complete definition, with every default written out. It never changes.
	 *
	 * `GET /workflows/{id}/versions/{version}`
	 */
	getVersion(
		id: string,
		version: string,
		options?: RequestOptions,
	): Promise<GetWorkflowVersionAnswer>

	/**
	 * Restore an old version.
	 *
	 * The version becomes the draft. If the workflow is enabled, it also becomes a new version at once. A step whose template no longer exists has none.
	 *
	 * `POST /workflows/{id}/versions/{version}/restore`
	 */
	restoreVersion(id: string, version: string, options?: RequestOptions): Promise<ChangedWorkflow>
}

export interface CampaignsApi {
	/**
	 * List campaigns.
	 *
	 * Includes the bodies. A page size over 100 counts as 100.
	 *
	 * `GET /campaigns`
	 */
	list(
		input?: ListCampaignsInput,
		options?: RequestOptions,
	): Paged<ListCampaignsAnswer['data'][number], ListCampaignsAnswer>

	/**
	 * Create a campaign.
	 *
	 * It starts as a DRAFT: nothing is sent before POST /campaigns/{id}/send. The audience is counted at once, and again when it is sent.
	 *
	 * `POST /campaigns`
	 */
	create(input: WithReact<CreateCampaignInput>, options?: RequestOptions): Promise<Campaign>

	/**
	 * Get a campaign.
	 *
	 * The counters are current.
	 *
	 * `GET /campaigns/{id}`
	 */
	get(id: string, options?: RequestOptions): Promise<Campaign>

	/**
	 * Change a campaign that has not started.
	 *
	 * Members that you leave out stay as they are; null clears an optional one. With the header `If-Match: "<updatedAt>"`, a campaign that has changed since is refused (409).
	 *
	 * `PUT /campaigns/{id}`
	 */
	update(
		id: string,
		input?: WithReact<UpdateCampaignInput>,
		options?: ChangeOptions,
	): Promise<Campaign>

	/**
	 * Delete a campaign.
	 *
	 * Mails that it has sent stay in the ledger.
	 *
	 * `DELETE /campaigns/{id}`
	 */
	delete(id: string, options?: RequestOptions): Promise<void>

	/**
	 * Copy a campaign.
	 *
	 * The copy is a DRAFT with the same content and audience, and a new name.
	 *
	 * `POST /campaigns/{id}/duplicate`
	 */
	duplicate(id: string, options?: RequestOptions): Promise<Campaign>

	/**
	 * Send a campaign now or at a time.
	 *
	 * Without a time, the campaign is SENDING at once. A SCHEDULED campaign is rescheduled. A campaign without recipients at its time ends as SENT. After the start, editing a segment no longer changes the audience. Contacts and segment members are read when their mail is sent. With the header `If-Match: "<updatedAt>"`, a campaign that has changed since is not sent (409).
	 *
	 * `POST /campaigns/{id}/send`
	 */
	send(id: string, input?: SendCampaignInput, options?: ChangeOptions): Promise<SendCampaignAnswer>

	/**
	 * Cancel a campaign.
	 *
	 * Mail that has not been handed over yet is not sent. Mail that has left stays sent.
	 *
	 * `POST /campaigns/{id}/cancel`
	 */
	cancel(id: string, options?: RequestOptions): Promise<Campaign>

	/**
	 * Pause a campaign.
	 *
	 * After at most two seconds, no more mails are handed over. A slow provider may still send those that it was given.
	 *
	 * `POST /campaigns/{id}/pause`
	 */
	pause(id: string, options?: RequestOptions): Promise<Campaign>

	/**
	 * Resume a paused campaign.
	 *
	 * It continues where it was paused. Refused with 429 while a limit of this month is reached.
	 *
	 * `POST /campaigns/{id}/resume`
	 */
	resume(id: string, options?: RequestOptions): Promise<Campaign>

	/**
	 * Settle all uncertain mails of a campaign.
	 *
	 * `sent` counts them as sent; `retry` sends them again, at the risk of second copies. A SENDING campaign sends them itself; for any other campaign they are sent as single mails. The call takes at most ten seconds: repeat it while `uncertain` is not 0.
	 *
	 * `POST /campaigns/{id}/resolve`
	 */
	resolve(
		id: string,
		input: ResolveCampaignInput,
		options?: RequestOptions,
	): Promise<ResolveCampaignAnswer>

	/**
	 * Get the figures of a campaign.
	 *
	 * Each mail counts once, however often it was opened or clicked.
	 *
	 * `GET /campaigns/{id}/stats`
	 */
	stats(id: string, options?: RequestOptions): Promise<CampaignStats>

	/**
	 * Get the progress of a campaign.
	 *
	 * The counts always add up to `total`. `waitingFor` says why mails wait and until when; it is null while they are being sent.
	 *
	 * `GET /campaigns/{id}/progress`
	 */
	progress(id: string, options?: RequestOptions): Promise<CampaignProgress>

	/**
	 * List the recipients of a campaign that has started.
	 *
	 * `total` is counted for a second: of a status that too many have, only up to 10,000. Each recipient has the status of its mail, and the error if it was not sent. `emailId` is null until the mail is about to be sent.
	 *
	 * `GET /campaigns/{id}/recipients`
	 */
	listRecipients(
		id: string,
		input?: ListCampaignRecipientsInput,
		options?: RequestOptions,
	): Paged<ListCampaignRecipientsAnswer['data'][number], ListCampaignRecipientsAnswer>

	/**
	 * Get the course of a campaign.
	 *
	 * From its start to its latest change, with every step in between: at most 1,500 minutes, 744 hours or 366 days in UTC. Each mail counts once per column, when it was sent, first opened, first clicked and so on. Empty before the start.
	 *
	 * `GET /campaigns/{id}/timeseries`
	 */
	getTimeseries(
		id: string,
		input?: GetCampaignTimeseriesInput,
		options?: RequestOptions,
	): Promise<CampaignStep[]>

	/**
	 * Count an audience.
	 *
	 * How many contacts a campaign with this audience would reach. Stores nothing. Suppressed addresses do not count, nor unsubscribed contacts unless the type is TRANSACTIONAL. Counting ends after 5 seconds; then `count` is null, and `isCounted` is false.
	 *
	 * `POST /campaigns/audience`
	 */
	countAudience(
		input: CountCampaignAudienceInput,
		options?: RequestOptions,
	): Promise<CampaignAudience>

	/**
	 * Send a test of a campaign to one address.
	 *
	 * Rendered with the data of the contact that has the address, if there is one. Tests are not tracked, and no figure of the campaign counts them. The usage of the month counts them as transactional mails.
	 *
	 * `POST /campaigns/{id}/test`
	 */
	test(id: string, input: TestCampaignInput, options?: RequestOptions): Promise<Message>
}

export interface ActivityApi {
	/**
	 * List activities, newest first.
	 *
	 * Covers the last 30 days unless you set startDate.
	 *
	 * `GET /activity`
	 */
	list(
		input?: ListActivityInput,
		options?: RequestOptions,
	): Paged<ListActivityAnswer['data'][number], ListActivityAnswer>

	/**
	 * Count activities.
	 *
	 * Covers the last 30 days unless you set startDate. Counts the mails sent in that time, to the quarter of an hour, and each as opened or clicked at most once. Deliveries, bounces and complaints are counted when they happened. Events are the activities of type event.triggered.
	 *
	 * `GET /activity/stats`
	 */
	stats(input?: GetActivityStatsInput, options?: RequestOptions): Promise<ActivityStats>

	/**
	 * Count the activities of the last minutes.
	 *
	 * For a live display. Counts activities of every type.
	 *
	 * `GET /activity/recent-count`
	 */
	recentCount(
		input?: CountRecentActivityInput,
		options?: RequestOptions,
	): Promise<CountRecentActivityAnswer>

	/**
	 * List the types of activities.
	 *
	 * The values that the `types` parameter of GET /activity takes.
	 *
	 * `GET /activity/types`
	 */
	types(options?: RequestOptions): Promise<ListActivityTypesAnswer>

	/**
	 * List upcoming activities, soonest first.
	 *
	 * Scheduled campaigns and mails, and active executions by the time they wake. Executions that wait only for an event are listed by the time they started.
	 *
	 * `GET /activity/upcoming`
	 */
	upcoming(
		input?: ListUpcomingActivityInput,
		options?: RequestOptions,
	): Promise<ListUpcomingActivityAnswer>
}

export interface AnalyticsApi {
	/**
	 * Count mails by day.
	 *
	 * One entry per day, at most 366. Each mail counts once per column, on the day it was sent, first opened, first clicked and so on. Complaints of those who get a copy (cc, bcc) count, too.
	 *
	 * `GET /analytics/timeseries`
	 */
	timeseries(input?: GetTimeseriesInput, options?: RequestOptions): Promise<AnalyticsDay[]>

	/**
	 * List the best campaigns of a period.
	 *
	 * Ranked by current figures: a late open still counts for its campaign.
	 *
	 * `GET /analytics/top-campaigns`
	 */
	topCampaigns(input?: ListTopCampaignsInput, options?: RequestOptions): Promise<TopCampaign[]>

	/**
	 * Get figures of the campaigns created in a period.
	 *
	 * Current totals of these campaigns.
	 *
	 * `GET /analytics/campaign-stats`
	 */
	campaigns(
		input?: GetCampaignAnalyticsInput,
		options?: RequestOptions,
	): Promise<GetCampaignAnalyticsAnswer>

	/**
	 * List the most frequent custom events of a period.
	 *
	 * Events of the service itself, such as email.open, are not included.
	 *
	 * `GET /analytics/top-events`
	 */
	topEvents(input?: ListTopEventsInput, options?: RequestOptions): Promise<TopEvent[]>
}

export interface DomainsApi {
	/**
	 * List the domains of a project, newest first.
	 *
	 * Verified and pending ones, each with the DNS records it needs. `@me` stands for the project of the key or of `X-Project-Id`.
	 *
	 * `GET /domains/project/{projectId}`
	 */
	list(projectId: string, options?: RequestOptions): Promise<Domain[]>

	/**
	 * Add a domain; the answer lists the DNS records that it needs.
	 *
	 * A project may have 100 domains. With Resend, at most 20 domains of an owner may be unverified. Several projects may have the same domain pending; the first to prove it has it. A domain that is verified in another project is a 409, until that project removes it or loses its DNS records.
	 *
	 * `POST /domains`
	 */
	create(input: CreateDomainInput, options?: RequestOptions): Promise<Domain>

	/**
	 * Check the DNS records of a domain now.
	 *
	 * A domain that is verified in another project is a 409, whatever its DNS says.
	 *
	 * `GET /domains/{id}/verify`
	 */
	verify(id: string, options?: RequestOptions): Promise<Domain>

	/**
	 * Remove a domain.
	 *
	 * Mail from its addresses is refused afterwards. The call is refused with 409 while a template or a campaign uses one of them.
	 *
	 * `DELETE /domains/{id}`
	 */
	delete(id: string, options?: RequestOptions): Promise<void>
}

export interface UploadsApi {
	/**
	 * Upload an image for the bodies of mails.
	 *
	 * Takes PNG, JPEG, GIF and WebP, recognised by content. The URL is public and permanent. A project may upload 500 images an hour.
	 *
	 * `POST /uploads/image`
	 */
	image(input: UploadImageInput, options?: RequestOptions): Promise<UploadImageAnswer>
}

export interface ProvidersApi {
	/**
	 * Receive a bounce or complaint that came by mail.
	 *
	 * The unchanged mail as message/rfc822: a delivery status notification (RFC 3464) or an abuse report (RFC 5965). `matched` is empty if it is neither, or not about a mail of ours.
	 *
	 * `POST /webhooks/bounce`
	 */
	bounce(input: string, options?: RequestOptions): Promise<ReceiveBounceAnswer>

	/**
	 * Receive an event from Resend.
	 *
	 * Resend calls it. The signature covers the raw body, and an event that was received before is ignored.
	 *
	 * `POST /webhooks/resend`
	 */
	resendEvent(input: ReceiveResendEventInput, options?: RequestOptions): Promise<ReceivedEvent>

	/**
	 * Receive an event from Stripe.
	 *
	 * Stripe calls it. The signature covers the raw body, and an event that was received before is ignored.
	 *
	 * `POST /webhooks/incoming/stripe`
	 */
	stripeEvent(input: ReceiveStripeEventInput, options?: RequestOptions): Promise<ReceivedEvent>
}

export interface WebhookEndpointsApi {
	/**
	 * Add an address that is notified of events.
	 *
	 * From now on, each event of these types is delivered to it, at least once. The answer has the secret of its signatures. A project may have 20 endpoints.
	 *
	 * `POST /webhook-endpoints`
	 */
	create(
		input: CreateWebhookEndpointInput,
		options?: RequestOptions,
	): Promise<CreatedWebhookEndpoint>

	/**
	 * List the webhook endpoints with their health, newest first.
	 *
	 * Secrets are not shown: they are returned once, when they are made.
	 *
	 * `GET /webhook-endpoints`
	 */
	list(options?: RequestOptions): Promise<WebhookEndpoint[]>

	/**
	 * Get a webhook endpoint with its health.
	 *
	 * Shows the state, the last success, failures in a row and what waits.
	 *
	 * `GET /webhook-endpoints/{id}`
	 */
	get(id: string, options?: RequestOptions): Promise<WebhookEndpoint>

	/**
	 * Change a webhook endpoint, disable it or enable it.
	 *
	 * Waiting events go to the new address. A disabled endpoint keeps its events for a replay; enabling it delivers only what happens from then on. After any change, waiting events are delivered at once, and up to 1000 of those that wait for their next try.
	 *
	 * `PATCH /webhook-endpoints/{id}`
	 */
	update(
		id: string,
		input?: UpdateWebhookEndpointInput,
		options?: RequestOptions,
	): Promise<WebhookEndpoint>

	/**
	 * Delete a webhook endpoint and its deliveries.
	 *
	 * Requests that are under way may still arrive.
	 *
	 * `DELETE /webhook-endpoints/{id}`
	 */
	delete(id: string, options?: RequestOptions): Promise<void>

	/**
	 * Give a webhook endpoint a new secret.
	 *
	 * The previous secret signs along for 24 hours.
	 *
	 * `POST /webhook-endpoints/{id}/rotate-secret`
	 */
	rotateSecret(id: string, options?: RequestOptions): Promise<RotatedWebhookSecret>

	/**
	 * List the deliveries to a webhook endpoint, newest first.
	 *
	 * Deliveries are kept for 30 days. `total` is counted up to 10000.
	 *
	 * `GET /webhook-endpoints/{id}/deliveries`
	 */
	listDeliveries(
		id: string,
		input?: ListWebhookDeliveriesInput,
		options?: RequestOptions,
	): Paged<ListWebhookDeliveriesAnswer['data'][number], ListWebhookDeliveriesAnswer>

	/**
	 * Deliver a sample to a webhook endpoint, now.
	 *
	 * Waits for the answer, at most ten seconds, and returns the endpoint’s response. A project may have two tests under way at a time; more are refused with 429. The sample is the example of its type and is not stored. After a success, waiting events are delivered at once, and up to 1000 of those that wait for their next try.
	 *
	 * `POST /webhook-endpoints/{id}/test`
	 */
	test(id: string, input?: TestWebhookEndpointInput, options?: RequestOptions): Promise<WebhookTest>

	/**
	 * Deliver the events of a period again.
	 *
	 * The requests have the same `webhook-id` and the same body as before. Deliveries are kept for 30 days. An endpoint has one replay at a time: another is refused with 409 until it has ended.
	 *
	 * `POST /webhook-endpoints/{id}/replay`
	 */
	replay(
		id: string,
		input: ReplayWebhooksInput,
		options?: RequestOptions,
	): Promise<ReplayWebhooksAnswer>

	/**
	 * Get a replay and its progress.
	 *
	 * Once it is completed, all its deliveries are due; the endpoint’s list shows how they go.
	 *
	 * `GET /webhook-endpoints/{id}/replay/{jobId}`
	 */
	getReplay(id: string, jobId: string, options?: RequestOptions): Promise<WebhookReplay>

	/**
	 * Cancel a replay.
	 *
	 * Deliveries that it has made due already are still made.
	 *
	 * `DELETE /webhook-endpoints/{id}/replay/{jobId}`
	 */
	cancelReplay(id: string, jobId: string, options?: RequestOptions): Promise<WebhookReplay>
}

export interface WebhookDeliveriesApi {
	/**
	 * Get a delivery with its payload and every try.
	 *
	 * Each try has its time, duration and status, and the first 4 KB of the answer or the network error.
	 *
	 * `GET /webhook-deliveries/{id}`
	 */
	get(id: string, options?: RequestOptions): Promise<WebhookDeliveryDetail>

	/**
	 * Deliver an event again, now.
	 *
	 * Before all that waits, and even if it was delivered before. If it fails, the plan of retries starts anew.
	 *
	 * `POST /webhook-deliveries/{id}/retry`
	 */
	retry(id: string, options?: RequestOptions): Promise<WebhookDeliveryDetail>
}

export interface BillingApi {
	/**
	 * Start a checkout.
	 *
	 * Open the address in a browser. The subscription starts when the payment page has been completed.
	 *
	 * `POST /users/@me/projects/{id}/checkout`
	 */
	createCheckout(
		id: string,
		input?: CreateCheckoutInput,
		options?: RequestOptions,
	): Promise<BillingLink>

	/**
	 * Open the billing portal.
	 *
	 * Open the address in a browser. It works only for a project that has a subscription.
	 *
	 * `POST /users/@me/projects/{id}/billing-portal`
	 */
	createPortal(id: string, options?: RequestOptions): Promise<BillingLink>

	/**
	 * Get the limits of each category, and the usage of this month.
	 *
	 * The month is a calendar month in UTC. A category without a limit is null.
	 *
	 * `GET /users/@me/projects/{id}/billing-limits`
	 */
	limits(id: string, options?: RequestOptions): Promise<BillingLimits>

	/**
	 * Set limits.
	 *
	 * Takes effect at once. Null removes a limit, and limits that are not given stay. Mail over a limit is refused with 429.
	 *
	 * `PUT /users/@me/projects/{id}/billing-limits`
	 */
	updateLimits(
		id: string,
		input?: UpdateBillingLimitsInput,
		options?: RequestOptions,
	): Promise<BillingLimits>

	/**
	 * Get the usage of this month (UTC), and its price.
	 *
	 * Counts mail as its limits do, so mail that was accepted and still waits is included. Only sent mail is billed, and only the invoice of the month is final.
	 *
	 * `GET /users/@me/projects/{id}/billing-consumption`
	 */
	consumption(id: string, options?: RequestOptions): Promise<BillingConsumption>

	/**
	 * List invoices, newest first.
	 *
	 * Amounts are in the currency's smallest unit.
	 *
	 * `GET /users/@me/projects/{id}/billing-invoices`
	 */
	invoices(id: string, options?: RequestOptions): Promise<Invoices>
}

export interface MailboxApi {
	/**
	 * List the mails of the local mailbox without their contents, newest first.
	 *
	 * For pages that show the mailbox. It answers only on the machine itself, and shows the mails of every project.
	 *
	 * `GET /mailbox/summaries`
	 */
	listSummaries(
		input?: ListMailboxSummariesInput,
		options?: RequestOptions,
	): Paged<ListMailboxSummariesAnswer['data'][number], ListMailboxSummariesAnswer>

	/**
	 * Get a mail of the local mailbox.
	 *
	 * It does not count as an open, and the mail stays unread.
	 *
	 * `GET /mailbox/messages/{id}`
	 */
	get(id: string, options?: RequestOptions): Promise<MailboxMail>

	/**
	 * Mark a mail of the local mailbox as read or unread.
	 *
	 * For the page alone: it does not count as an open.
	 *
	 * `PATCH /mailbox/messages/{id}`
	 */
	update(id: string, input: UpdateMailboxMessageInput, options?: RequestOptions): Promise<void>

	/**
	 * Delete a mail from the local mailbox.
	 *
	 * The ledger at /emails keeps its entry.
	 *
	 * `DELETE /mailbox/messages/{id}`
	 */
	delete(id: string, options?: RequestOptions): Promise<void>

	/**
	 * Get the source of a mail in the local mailbox.
	 *
	 * The message as it would have been sent, with all headers.
	 *
	 * `GET /mailbox/messages/{id}/raw`
	 */
	getSource(id: string, options?: RequestOptions): Promise<string>

	/**
	 * Get the body of a mail in the local mailbox.
	 *
	 * Shown without the tracking pixel, so looking at it does not count as an open.
	 *
	 * `GET /mailbox/messages/{id}/html`
	 */
	getBody(id: string, input?: GetMailboxBodyInput, options?: RequestOptions): Promise<string>

	/**
	 * Get a file of a mail in the local mailbox.
	 *
	 * The bytes of the attachment.
	 *
	 * `GET /mailbox/messages/{id}/attachments/{position}`
	 */
	getAttachment(id: string, position: string, options?: RequestOptions): Promise<ArrayBuffer>

	/**
	 * Show the local mailbox.
	 *
	 * Shows mail that the local provider has taken instead of sending it. It answers only on the machine itself.
	 *
	 * `GET /mailbox`
	 */
	page(input?: ShowMailboxInput, options?: RequestOptions): Promise<string>

	/**
	 * List the mails of the local mailbox, newest first.
	 *
	 * For tests of your application: read here what it has sent. It answers only on the machine itself.
	 *
	 * `GET /mailbox/messages`
	 */
	list(
		input?: ListMailboxMessagesInput,
		options?: RequestOptions,
	): Promise<ListMailboxMessagesAnswer>

	/**
	 * Empty the local mailbox.
	 *
	 * Removes the mails of every project from the mailbox. The ledger at /emails keeps its entries.
	 *
	 * `DELETE /mailbox/messages`
	 */
	clear(options?: RequestOptions): Promise<void>
}
