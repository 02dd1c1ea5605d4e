/** Desktop shell: sends it the menu and handles its events. In a browser there is none, and nothing happens. */
import { computed, onScopeDispose, watch } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { ShellEvent } from '#core/api/shell.ts'
import { unavailableReason } from '../stores/availability.ts'
import { catalogue, type CommandId } from '../commands/catalogue.ts'
import { formatKeys, platform } from '../commands/keys.ts'
import { useKeymapStore } from '../commands/keymap.ts'
import { menuOf } from '../commands/menu.ts'
import { runCommand } from '../composables/use-commands.ts'
import type { Client } from '../stores/client.ts'
import { useConnectionStore } from '../stores/connection.ts'
import { useIncidentsStore } from '../stores/incidents.ts'
import { useShellStore } from '../stores/shell.ts'
import { plainText } from '../format/plain-text.ts'
import { VIEWS } from '../commands/views.ts'

const ids: ReadonlySet<string> = new Set(catalogue.map((c) => c.id))
const isCommand = (id: string): id is CommandId => ids.has(id)

export function useShell(): void {
  const connection = useConnectionStore()
  const shell = useShellStore()
  const incidents = useIncidentsStore()
  const keymap = useKeymapStore()
  const route = useRoute()
  const router = useRouter()
  let following: AbortController | null = null

  const menu = computed(() => {
    const scope = typeof route.name === 'string' ? route.name : ''
    const title = VIEWS.find((v) => v.id === scope)?.title ?? 'View'
    return menuOf({
      catalogue,
      keysOf: (id) => keymap.byId.get(id) ?? [],
      view: { scope, title },
      text: (keys) => formatKeys(keys, platform),
      unavailableReason,
    })
  })
  watch([menu, () => shell.about, () => connection.host], ([model, about, host]) => {
    if (about?.menu && host) void host.api.shell.setMenu(model).catch(() => undefined)
  })

  function take(event: ShellEvent): void {
    if (event.kind === 'command') {
      if (isCommand(event.id)) runCommand(event.id)
    } else if (event.kind === 'alert') {
      if (event.incident === null) shell.isAlertsOpen = true
      else {
        incidents.choose(event.incident)
        void router.push({ name: 'incidents' })
      }
    } else if (event.locked.length > 0) {
      const names = plainText(event.locked.join(', '))
      shell.notice = {
        code: 'LOCKED_BY_POWER',
        what: `Writing was locked: ${names}`,
        why: event.what === 'suspend' ? 'this machine was suspended' : 'the screen was locked',
        unaffected: 'Manually committed rules stay until their timers expire.',
        next: 'Unlock the cluster and choose the mode again.',
      }
    }
  }

  async function follow(api: Client['shell'], signal: AbortSignal): Promise<void> {
    try {
      for await (const event of await api.events(undefined, { signal })) {
        if (signal.aborted) return
        take(event)
      }
    } catch {
      // The connection to the host is lost, which is shown elsewhere; the next host is followed again.
    }
  }
  watch(
    () => connection.host,
    async (host) => {
      following?.abort()
      following = null
      if (host === null) return
      const { signal } = (following = new AbortController())
      const about = await shell.load()
      if (about?.menu && !signal.aborted) void follow(host.api.shell, signal)
    },
    { immediate: true },
  )
  onScopeDispose(() => following?.abort())
}
