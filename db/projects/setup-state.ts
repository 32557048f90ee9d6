import { statement } from '../statement.ts'

export interface SetupState {
	hasSubscription: boolean
	hasVerifiedDomain: boolean
	lastCampaignSentAt: Date | null
	hasEnabledWorkflow: boolean
}

/** $1 project */
export const setupState = statement<SetupState>(
	'setup-state',
	`select
		exists (select from billing_accounts where project_id = $1 and subscribed) as "hasSubscription",
		exists (select from domains where project_id = $1 and verified_at is not null) as "hasVerifiedDomain",
		(select max(sent_at) from campaigns where project_id = $1) as "lastCampaignSentAt",
		exists (select from automations where project_id = $1 and enabled) as "hasEnabledWorkflow"`,
)
