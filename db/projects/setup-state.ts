import { bool, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

export const setupState = statement('setup-state', {
	params: { projectId: uuid },
	row: {
		hasSubscription: bool,
		hasVerifiedDomain: bool,
		/** Many countries require a postal address in marketing mail. */
		hasPostalAddress: bool,
		lastCampaignSentAt: timestamp.orNull,
		hasEnabledWorkflow: bool,
	},
	text: `select
		exists (select from billing_accounts where project_id = $projectId
			and subscribed) as "hasSubscription",
		exists (select from domains where project_id = $projectId
			and verified_at is not null) as "hasVerifiedDomain",
		exists (select from projects where id = $projectId
			and postal_address is not null) as "hasPostalAddress",
		(select max(sent_at) from campaigns where project_id = $projectId) as "lastCampaignSentAt",
		exists (select from automations where project_id = $projectId
			and enabled) as "hasEnabledWorkflow"`,
})
