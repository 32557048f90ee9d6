import { statement } from '../statement.ts'

export interface SetupState {
	hasSubscription: boolean
	hasVerifiedDomain: boolean
	/** Marketing mail is to carry one in many countries. */
	hasPostalAddress: boolean
	lastCampaignSentAt: Date | null
	hasEnabledWorkflow: boolean
}

/** $1 project */
export const setupState = statement<SetupState>(
	'setup-state',
	`select
		exists (select from billing_accounts where project_id = $1 and subscribed) as "hasSubscription",
		exists (select from domains where project_id = $1 and verified_at is not null) as "hasVerifiedDomain",
		exists (select from projects where id = $1 and postal_address is not null) as "hasPostalAddress",
		(select max(sent_at) from campaigns where project_id = $1) as "lastCampaignSentAt",
		exists (select from automations where project_id = $1 and enabled) as "hasEnabledWorkflow"`,
)
