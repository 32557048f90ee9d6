import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Template, TemplateUsage } from '../../client/index.ts'
import { useConfirm } from '../parts/confirm.tsx'
import { counted } from '../parts/counted.ts'
import { useToast } from '../parts/toast.tsx'
import { copyQuestion, discardUnsaved, hasUnsaved } from '../parts/use-leaving.ts'
import { useProject } from '../shell/projects.ts'

const open = new Set(['DRAFT', 'SCHEDULED', 'SENDING'])

/** The uses that keep a template from being deleted. */
export const blocking = ({ campaigns, workflowSteps }: TemplateUsage) => ({
	campaigns: campaigns.filter(({ status }) => open.has(status)),
	workflowSteps,
})
export type Blocking = ReturnType<typeof blocking>

/** Duplicating and deleting a template. */
export function useTemplateActs(
	{ id, name }: Pick<Template, 'id' | 'name'>,
	onDeleted?: () => Promise<void>,
) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const navigate = useNavigate()
	const confirm = useConfirm()
	const toast = useToast()
	const [uses, setUses] = useState<Blocking | null>(null)
	const refresh = () => queries.invalidateQueries({ queryKey: [project.id, 'templates', 'list'] })

	const duplicating = useMutation({
		async mutationFn() {
			if (hasUnsaved() && !(await confirm(copyQuestion))) return
			const copy = await api.templates.duplicate(id)
			discardUnsaved()
			await refresh()
			toast({ title: `This is “${copy.name}”` })
			await navigate({
				to: '/console/$projectId/templates/$templateId',
				params: { projectId: project.id, templateId: copy.id },
			})
		},
	})
	const removing = useMutation({
		mutationFn: async () => {
			const usage = await api.templates.usage(id)
			const found = blocking(usage)
			if (found.campaigns.length + found.workflowSteps.length > 0) return setUses(found)
			if (!(await confirm(questionOf(name, usage)))) return undefined
			await api.templates.delete(id)
			discardUnsaved()
			toast({ title: `“${name}” is deleted` })
			await onDeleted?.()
			return refresh()
		},
	})
	return {
		duplicate: () => duplicating.mutate(),
		remove: () => removing.mutate(),
		uses,
		fault: duplicating.error ?? removing.error,
		closeUses() {
			setUses(null)
			duplicating.reset()
			removing.reset()
		},
	}
}

function questionOf(name: string, { emailsSent, campaigns }: TemplateUsage) {
	const kept = [
		...(emailsSent > 0 ? [counted(emailsSent, 'sent mail')] : []),
		...(campaigns.length > 0 ? [counted(campaigns.length, 'ended campaign')] : []),
	].join(' and ')
	return {
		title: `Delete “${name}”?`,
		body: kept
			? `No workflow or open campaign uses it. Mail that was made with it stays as it is: ${kept}. This cannot be undone.`
			: 'Nothing uses it. This cannot be undone.',
		act: 'Delete the template',
		isDestructive: true,
	}
}
