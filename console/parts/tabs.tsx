import { Tabs as Parts } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'
import styles from './tabs.module.css'

interface Props {
	tabs: { id: string; name: ReactNode; content: ReactNode }[]
	/** Chosen by the address where it shall be shareable. */
	value?: string
	onChange?: (id: string) => void
}

export const Tabs = ({ tabs, value, onChange }: Props) => (
	<Parts.Root
		{...(value === undefined ? { defaultValue: tabs[0]?.id } : { value })}
		onValueChange={(id) => onChange?.(String(id))}
	>
		<Parts.List className={styles.list}>
			{tabs.map(({ id, name }) => (
				<Parts.Tab key={id} value={id} className={styles.tab}>
					{name}
				</Parts.Tab>
			))}
		</Parts.List>
		{tabs.map(({ id, content }) => (
			<Parts.Panel key={id} value={id} className={styles.panel}>
				{content}
			</Parts.Panel>
		))}
	</Parts.Root>
)
