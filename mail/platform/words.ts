/** The data of each kind of our own mails. */
export interface PlatformMailData {
	verification: { url: string }
	/** With an unverified address, choosing a password will change the account's projects. */
	passwordReset: { url: string; isVerified: boolean }
	invitation: { url: string; project: string; inviter: string }
	memberAdded: { project: string; inviter: string }
	/** The address was unverified before this proof. */
	accountSecured: { projects: string[]; members: string[] }
	suspension: { project: string; reason: SuspensionReason }
	/** `error` lists the missing records, in English like the API. */
	domainLost: { project: string; domain: string; error: string }
	usageLimit: {
		project: string
		category: 'workflows' | 'campaigns' | 'transactional' | 'inbound' | 'total'
		used: number
		limit: number
		/** false: usage is near the limit. */
		isReached: boolean
	}
	paymentFailed: { project: string }
	/** GONE: it answered 410. FAILING: no success for five days. */
	webhookDisabled: { project: string; endpoint: string; reason: 'GONE' | 'FAILING' }
}

export type PlatformMailKind = keyof PlatformMailData
export type SuspensionReason = 'bounces' | 'complaints'

export interface Letter {
	subject: string
	paragraphs: string[]
	/** The button's text, if there is something to click. */
	button?: string
	remark: string
}

export interface Words {
	/** The text below a button, before its address. */
	addressOfButton: string
	letters: { [Kind in PlatformMailKind]: (data: PlatformMailData[Kind]) => Letter }
}
