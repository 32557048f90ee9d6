import { EllipsisVertical } from 'lucide-react'
import type { Template } from '../../client/index.ts'
import { IconButton } from '../parts/button.tsx'
import { Menu } from '../parts/menu.tsx'
import { TemplateInUse } from './template-in-use.tsx'
import { useTemplateActs } from './use-template-acts.ts'

export function TemplateMenu({ template }: { template: Template }) {
	const { duplicate, remove, uses, closeUses, fault } = useTemplateActs(template)
	return (
		<>
			<Menu
				trigger={
					<IconButton name={`Acts for ${template.name}`} icon={<EllipsisVertical size={16} />} />
				}
				items={[
					{ name: 'Duplicate', act: duplicate },
					{ name: 'Delete', act: remove, isDestructive: true },
				]}
			/>
			<TemplateInUse template={template} uses={uses} error={fault} onClose={closeUses} />
		</>
	)
}
