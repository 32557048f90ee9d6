import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CircleUser } from 'lucide-react'
import { useState } from 'react'
import { useLogOut } from '../accounts/log-out.ts'
import { userQuery } from '../accounts/user.ts'
import { MenuOnDemand } from '../parts/menu-on-demand.tsx'
import styles from './navigation.module.css'
import { chosenTheme, chooseTheme, themes } from './theme.ts'

const names = { system: 'Colours of the system', light: 'Light', dark: 'Dark' }

export function AccountMenu() {
	const { data: user } = useQuery(userQuery)
	const navigate = useNavigate()
	const [chosen, setChosen] = useState(chosenTheme)
	const { logOut } = useLogOut()
	return (
		<MenuOnDemand
			side="top"
			trigger={
				<button type="button" className={`${styles.choice} ${styles.account}`}>
					<CircleUser size={16} aria-label="Account" />
					<span>{user?.email ?? 'Account'}</span>
				</button>
			}
			items={[
				...themes.map((theme) => ({
					name: names[theme],
					isChosen: theme === chosen,
					act: () => {
						chooseTheme(theme)
						setChosen(theme)
					},
				})),
				null,
				{ name: 'Your account', act: () => void navigate({ to: '/console/account' }) },
				{ name: 'API description', act: () => void window.open('/docs', '_blank', 'noopener') },
				{ name: 'Log out', act: logOut },
			]}
		/>
	)
}
