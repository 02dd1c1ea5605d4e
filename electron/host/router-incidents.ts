/** Handlers of incident verbs, on the services of the host. */
import { accepted, type Implementation } from './implementation.ts'
import type { IncidentService } from './incidents/incident-service.ts'

// The contract determines the return type, as for the whole router.
export function incidentHandlers(os: Implementation, { notebooks, alerts, bundles }: IncidentService) {
  return {
    create: os.incidents.create.handler(async ({ input }) => accepted(await notebooks.createInTurns(input))),
    change: os.incidents.change.handler(({ input: { id, ...change } }) => {
      accepted(notebooks.change(id, change))
    }),
    remove: os.incidents.remove.handler(({ input }) => {
      accepted(notebooks.remove(input.id))
    }),
    restore: os.incidents.restore.handler(({ input }) => {
      accepted(notebooks.restore(input.id))
    }),
    addCell: os.incidents.addCell.handler(({ input }) =>
      accepted(notebooks.addCell(input.id, input.atMs, input.cell, input.behind)),
    ),
    editCell: os.incidents.editCell.handler(({ input }) => {
      accepted(notebooks.editCell(input.id, input.cell, input.text))
    }),
    moveCell: os.incidents.moveCell.handler(({ input }) => {
      accepted(notebooks.moveCell(input.id, input.cell, input.by))
    }),
    removeCell: os.incidents.removeCell.handler(({ input }) => {
      accepted(notebooks.removeCell(input.id, input.cell))
    }),
    restoreCell: os.incidents.restoreCell.handler(({ input }) => {
      accepted(notebooks.restoreCell(input.id, input.cell))
    }),
    alertRules: os.incidents.alertRules.handler(() => ({ rules: alerts.rules() })),
    setAlertRule: os.incidents.setAlertRule.handler(({ input }) => {
      accepted(alerts.setRule(input))
    }),
    preview: os.incidents.preview.handler(async ({ input }) => accepted(await bundles.preview(input))),
    export: os.incidents.export.handler(({ input, signal }) => accepted(bundles.export(input, signal))),
    markdown: os.incidents.markdown.handler(async ({ input }) => accepted(await bundles.markdown(input))),
    read: os.incidents.read.handler(({ input }) => accepted(bundles.read(input.name))),
    put: os.incidents.put.handler(async ({ input }) => {
      accepted(await bundles.put(input))
    }),
    verify: os.incidents.verify.handler(async ({ input }) => accepted(await bundles.verify(input.name))),
    open: os.incidents.open.handler(async ({ input }) => {
      accepted(await bundles.open(input.name))
    }),
    removeBundle: os.incidents.removeBundle.handler(({ input }) => {
      accepted(bundles.remove(input.name))
    }),
  }
}
