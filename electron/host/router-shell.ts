/** Handlers of verbs of the desktop shell. */
import { accepted, type Implementation } from './implementation.ts'
import type { ShellService } from './shell/shell-service.ts'

// The contract determines the return type, as for the whole router.
export function shellHandlers(os: Implementation, shell: ShellService) {
  return {
    about: os.shell.about.handler(() => shell.about()),
    save: os.shell.save.handler(async ({ input, context }) => {
      const begun = accepted(await shell.saves.begin(context.peer, input.name, input.bytes))
      return { id: begun }
    }),
    put: os.shell.put.handler(async ({ input, context }) => {
      const taken = accepted(await shell.saves.put(context.peer, input))
      return { name: taken }
    }),
    drop: os.shell.drop.handler(({ input, context }) => shell.saves.drop(context.peer, input.id)),
    setMenu: os.shell.setMenu.handler(({ input }) => shell.setMenu(input)),
    openLink: os.shell.openLink.handler(async ({ input }) => {
      accepted(await shell.openLink(input.url))
    }),
    forgetSecrets: os.shell.forgetSecrets.handler(({ input }) => {
      const forgotten = accepted(shell.secrets.forget(input.file))
      return { forgotten: forgotten }
    }),
    events: os.shell.events.handler(({ signal }) => shell.events(signal)),
  }
}
