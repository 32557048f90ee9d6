import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Domain } from '../../client/index.ts'
import { useConfirm } from '../parts/confirm.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import { domainsQuery, withChecked } from './domains-query.ts'
import { neededBy } from './record-advice.ts'

/** Looks at DNS now. */
export function useCheck(id: string) {
	const current = useProject()
	const queries = useQueryClient()
	const toast = useToast()
	const { queryKey } = domainsQuery(current)
	return useMutation({
		mutationFn: () => current.api.domains.verify(id),
		onSuccess: async (checked) => {
			queries.setQueryData(queryKey, withChecked(checked))
			toast({
				title: checked.verified
					? `${checked.domain} is verified: mail can be sent from it`
					: `${checked.domain} is not verified yet: ${missingOf(checked)}`,
			})
			await queries.invalidateQueries({ queryKey: [current.project.id, 'setup'] })
		},
		// A domain that another project has proved is not the same as before.
		onError: () => queries.invalidateQueries({ queryKey }),
	})
}

const missingOf = (domain: Domain) => {
	const missing = neededBy(domain).filter(({ status }) => status !== 'verified').length
	if (missing === 0) return domain.lastError ?? 'check again in a few minutes'
	return missing === 1 ? 'one record is missing' : `${missing} records are missing`
}

export function useDelete({ id, domain }: Domain) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const confirm = useConfirm()
	const toast = useToast()
	const navigate = useNavigate()
	const { mutate, ...state } = useMutation({
		mutationFn: () => api.domains.delete(id),
		onSuccess: async () => {
			await navigate({ to: '/console/$projectId/domains', params: { projectId: project.id } })
			toast({ title: `${domain} is deleted` })
			await queries.invalidateQueries({ queryKey: [project.id, 'domains'] })
			await queries.invalidateQueries({ queryKey: [project.id, 'setup'] })
		},
	})
	const ask = async () => {
		const isSure = await confirm({
			title: `Delete ${domain}?`,
			body: `New mail from addresses at ${domain} is refused, and mail to them is no longer received. Templates and campaigns that send from it must have another sender first. This cannot be undone: when the domain is added again, it may need other DNS records.`,
			act: 'Delete the domain',
			isDestructive: true,
		})
		if (isSure) mutate()
	}
	return { ...state, ask: () => void ask() }
}
