/** What a mail may count for, and what happens when its limit is reached. */
export const categories = [
	{
		name: 'transactional',
		title: 'Transactional mail',
		atLimit: 'more mail is refused with 429.',
	},
	{
		name: 'campaigns',
		title: 'Campaigns',
		atLimit: 'campaigns are paused until the limit is raised or the month ends.',
	},
	{ name: 'workflows', title: 'Workflows', atLimit: 'steps that send mail fail.' },
	{ name: 'inbound', title: 'Received mail', atLimit: 'incoming mail is not taken.' },
] as const

export type CategoryName = (typeof categories)[number]['name']
