import { listed } from './plain-name.ts'
import type { Words } from './words.ts'

const kinds = {
	workflows: 'workflow mail',
	campaigns: 'campaign mail',
	transactional: 'transactional mail',
	inbound: 'inbound mail',
	total: 'all mail',
}

export const english: Words = {
	addressOfButton: 'If the button does not work, open this address in your browser:',
	letters: {
		verification: () => ({
			subject: 'Confirm your email address',
			paragraphs: ['Please confirm that this address is yours. The link is valid for one hour.'],
			button: 'Confirm address',
			remark: 'If you did not sign up, you don’t need to do anything.',
		}),
		passwordReset: ({ isVerified }) => ({
			subject: 'Choose a new password',
			paragraphs: [
				'Somebody, probably you, asked for a new password for this account. The link is valid for one hour.',
				...(isVerified
					? []
					: [
							'The address of this account is not verified yet. If the account has projects, choosing a password also replaces their keys, removes their other members and disables their webhook endpoints. Workflows that send data of contacts to other addresses are disabled as well.',
						]),
			],
			button: 'Choose a password',
			remark: 'If it was not you, your password stays as it is.',
		}),
		invitation: ({ project, inviter }) => ({
			subject: `Invitation to ${project}`,
			paragraphs: [`${inviter} invites you to work on the project ${project}.`],
			button: 'Accept the invitation',
			remark: 'If you don’t know this project, ignore this email.',
		}),
		memberAdded: ({ project, inviter }) => ({
			subject: `You were added to ${project}`,
			paragraphs: [
				`${inviter} added you to the project ${project}. You can work on it with your account from now on.`,
			],
			remark:
				'If you do not know this project, you don’t need to do anything. Your account and your own projects are not affected.',
		}),
		accountSecured: ({ projects, members }) => ({
			subject: 'Your account is secured',
			paragraphs: [
				'Your email address was not verified before, so somebody else could have created this account. You have now proved that the address is yours, and all earlier sessions have ended.',
				`The keys of these projects were replaced, their other members and open invitations removed, and their webhook endpoints disabled: ${listed(projects)}.`,
				'Workflows that send data of contacts to other addresses, by webhook or by email, were disabled as well, and their executions cancelled.',
				...(members.length > 0 ? [`Removed members: ${listed(members)}.`] : []),
			],
			remark:
				'Nothing was deleted. Create new keys before your applications use these projects again. Give webhook endpoints of your own a new secret and enable them. Check their workflows, webhooks and domains if you did not set them up yourself.',
		}),
		suspension: ({ project, reason }) => ({
			subject: `Sending is suspended: ${project}`,
			paragraphs: [
				reason === 'bounces'
					? `Too many emails of the project ${project} could not be delivered because their addresses do not exist.`
					: `Too many recipients have reported emails of the project ${project} as spam.`,
				'To protect the delivery of your mail, sending is suspended. Waiting emails, campaigns and workflows were cancelled. Your data can still be read.',
			],
			remark: 'Please contact support to find the cause and lift the suspension.',
		}),
		domainLost: ({ project, domain, error }) => ({
			subject: `${domain} can no longer send: ${project}`,
			paragraphs: [
				`Three checks in a row did not find the DNS records that ${domain} needs, so the project ${project} can no longer send from it.`,
				error,
			],
			remark:
				'Put the records back as they are shown for the domain. It is checked every few minutes and can send again when they are found.',
		}),
		usageLimit: ({ project, category, used, limit, isReached }) => ({
			subject: isReached
				? `A limit is reached: ${project}`
				: `A limit is nearly reached: ${project}`,
			paragraphs: [
				`The project ${project} has used ${used} of its ${limit} mails this month (${kinds[category]}).`,
				isReached
					? 'Until the month ends (UTC) or the limit is raised, no more such mail is accepted: requests are refused, campaigns pause, and workflow steps fail.'
					: 'When the limit is reached, no more such mail is accepted until the month ends (UTC).',
			],
			remark: 'An administrator of the project can raise the limits, or start a subscription.',
		}),
		paymentFailed: ({ project }) => ({
			subject: `A payment failed, sending is suspended: ${project}`,
			paragraphs: [
				`The payment for the project ${project} could not be collected after several attempts.`,
				'Sending is therefore suspended. Waiting emails, campaigns and workflows were cancelled. Your data can still be read.',
			],
			remark:
				'Pay the open invoice from the billing page of the project: you can send again as soon as it is paid.',
		}),
		webhookDisabled: ({ project, endpoint, reason }) => ({
			subject: `A webhook endpoint is disabled: ${project}`,
			paragraphs: [
				reason === 'GONE'
					? `${endpoint} answered that it is gone (410), so the project ${project} sends it no more events.`
					: `${endpoint} has not accepted an event for five days, so the project ${project} sends it no more events.`,
				'Its events are kept for 30 days.',
			],
			remark: 'Enable the endpoint again when it works, and replay the events that it missed.',
		}),
	},
}
