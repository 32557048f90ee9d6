export const historyTabs = ['everything', 'mails', 'events', 'workflows'] as const
export type HistoryTab = (typeof historyTabs)[number]

export const readHistoryTab = ({
	show,
}: Record<string, unknown>): { show?: HistoryTab | undefined } => ({
	show: historyTabs.find((tab) => tab === show),
})
