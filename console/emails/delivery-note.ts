import { useQuery } from '@tanstack/react-query'
import { configQuery } from '../config.ts'

/** Why no mail counts as delivered, where the provider cannot report it. */
export function useDeliveryNote(delivered: number) {
	const { data: config } = useQuery(configQuery)
	return delivered === 0 && config?.features.mailbox.enabled
		? 'Not reported by the local mailbox'
		: undefined
}
