import { EllipsisVertical } from 'lucide-react'
import { useNavigate } from '@tanstack/react-router'
import type { Template } from '../../client/index.ts'
import { IconButton } from '../parts/button.tsx'
import { Menu } from '../parts/menu.tsx'
import { useProject } from '../shell/projects.ts'
import { TemplateInUse } from './template-in-use.tsx'
import { useTemplateActs } from './use-template-acts.ts'

interface Props {
	template: Template
	/** Leaves its page. */
	onDeleted?: () => Promise<void>
}

export function TemplateMenu({ template, onDeleted }: Props) {
	const { duplicate, remove, uses, closeUses, fault } = useTemplateActs(template, onDeleted)
	const { project } = useProject()
	const navigate = useNavigate()
	const begin = () =>
		void navigate({
			to: '/console/$projectId/campaigns/new',
			params: { projectId: project.id },
			search: { template: template.id },
		})
	return (
		<>
			<Menu
				trigger={
					<IconButton name={`Acts for ${template.name}`} icon={<EllipsisVertical size={16} />} />
				}
				items={[
					{ name: 'Start a campaign with it', act: begin },
					{ name: 'Duplicate', act: duplicate },
					{ name: 'Delete', act: remove, isDestructive: true },
				]}
			/>
			<TemplateInUse template={template} uses={uses} error={fault} onClose={closeUses} />
		</>
	)
}
