import { Tabs as Parts } from '@base-ui/react/tabs'
import { Link, useLocation } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
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

interface LinkTabsProps {
	/** Of the whole, for readers who do not see it. */
	name: string
	tabs: { name: string; address: string }[]
}

/** Tabs that are pages of their own. */
export function LinkTabs({ name, tabs }: LinkTabsProps) {
	const { pathname } = useLocation()
	const list = useRef<HTMLElement>(null)
	// On a phone the list is wider than the page.
	useEffect(() => {
		const present = list.current?.querySelector('[aria-current=page]')
		present?.scrollIntoView({ block: 'nearest', inline: 'center' })
	}, [pathname])
	return (
		<nav ref={list} aria-label={name} className={styles.list}>
			{tabs.map(({ name, address }) => (
				<Link
					key={address}
					to={address as '/'}
					activeOptions={{ exact: true, includeSearch: false }}
					className={styles.tab}
				>
					{name}
				</Link>
			))}
		</nav>
	)
}
