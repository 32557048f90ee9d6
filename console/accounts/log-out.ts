import { onlineManager, useMutation } from '@tanstack/react-query'
import { ownApi } from '../client.ts'
import { hasDrafts } from '../editor/drafts.ts'
import { useConfirm } from '../parts/confirm.tsx'
import { useToast } from '../parts/toast.tsx'
import { discardUnsaved, hasUnsaved } from '../parts/use-leaving.ts'
import { themeName } from '../shell/theme.ts'

const tabs = new BroadcastChannel('tempost.log-out')

/** Ends the session, and leaves nothing of it in the browser. */
export function useLogOut() {
	const confirm = useConfirm()
	const toast = useToast()
	const { mutate, isPending } = useMutation({
		mutationFn: () => {
			// The page asks for nothing more: it would be refused once the session has ended.
			onlineManager.setOnline(false)
			return ownApi.auth.logOut()
		},
		onSuccess: () => {
			tabs.postMessage(null)
			forgetSession()
		},
		onError({ message }) {
			onlineManager.setOnline(true)
			toast({ title: `You are still logged in. ${message}` })
		},
	})
	async function ask() {
		const isSure =
			!(hasUnsaved() || hasDrafts()) ||
			(await confirm({
				title: 'Log out without saving?',
				body: 'Your unsaved changes are lost.',
				act: 'Log out without saving',
				isDestructive: true,
			}))
		if (isSure) mutate()
	}
	return { logOut: () => void ask(), isBusy: isPending }
}

/** Another tab of the same session has logged out. */
export function followLogOut() {
	tabs.onmessage = forgetSession
}

function forgetSession() {
	discardUnsaved()
	sessionStorage.clear()
	for (const name of Object.keys(localStorage))
		if (name !== themeName) localStorage.removeItem(name)
	// A new page: what the old one has in its memory goes with it.
	location.replace('/console/log-in')
}
