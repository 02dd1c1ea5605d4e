/** Verbs of the program around the host. */
import { accepted, type Implementation } from './implementation.ts'
import type { ShellDesk } from './shell/desk.ts'

// The return type is what the contract makes of it, as for the whole router.
export function shellHandlers(os: Implementation, desk: ShellDesk) {
  return {
    about: os.shell.about.handler(() => desk.about()),
    save: os.shell.save.handler(async ({ input, context }) => {
      const begun = accepted(await desk.saves.begin(context.peer, input.name, input.bytes))
      return { id: begun }
    }),
    put: os.shell.put.handler(async ({ input, context }) => {
      const taken = accepted(await desk.saves.put(context.peer, input))
      return { name: taken }
    }),
    drop: os.shell.drop.handler(({ input, context }) => desk.saves.drop(context.peer, input.id)),
    setMenu: os.shell.setMenu.handler(({ input }) => desk.setMenu(input)),
    openLink: os.shell.openLink.handler(async ({ input }) => {
      accepted(await desk.openLink(input.url))
    }),
    forgetSecrets: os.shell.forgetSecrets.handler(({ input }) => {
      const forgotten = accepted(desk.secrets.forget(input.file))
      return { forgotten: forgotten }
    }),
    events: os.shell.events.handler(({ signal }) => desk.events(signal)),
  }
}
