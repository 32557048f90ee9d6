/** What each kind of our own mail is told about. */
export interface PlatformMailData {
	verification: { url: string }
	/** An address that is not verified yet: choosing a password will change the account's projects. */
	passwordReset: { url: string; isVerified: boolean }
	invitation: { url: string; project: string; inviter: string }
	memberAdded: { project: string; inviter: string }
	/** An address was proved that was not verified before. */
	accountSecured: { projects: string[]; members: string[] }
	suspension: { project: string; reason: SuspensionReason }
	/** `error` says which records are missing, in English as the API does. */
	domainLost: { project: string; domain: string; error: string }
	usageLimit: {
		project: string
		category: 'workflows' | 'campaigns' | 'transactional' | 'inbound' | 'total'
		used: number
		limit: number
		/** Or nearly so. */
		isReached: boolean
	}
	paymentFailed: { project: string }
}

export type PlatformMailKind = keyof PlatformMailData
export type SuspensionReason = 'bounces' | 'complaints'

export interface Letter {
	subject: string
	paragraphs: string[]
	/** What the button says, where there is something to click. */
	button?: string
	remark: string
}

export interface Words {
	/** Beneath a button, before its address. */
	addressOfButton: string
	letters: { [Kind in PlatformMailKind]: (data: PlatformMailData[Kind]) => Letter }
}
