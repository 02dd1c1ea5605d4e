/** Factories of the controllers of OST bandwidth. */
import type { Controller } from '../control/controller.ts'
import { NoneController } from '../control/none.ts'
import { StaticController } from '../control/static.ts'
import type { ControllerName } from '../controllers/registry.ts'
import { AdapTbfController } from './controller.ts'
import type { AdapTbfOptions } from './controller-options.ts'

const FACTORIES: Readonly<Record<ControllerName, (options: AdapTbfOptions) => Controller>> = {
  adaptbf: (options) => new AdapTbfController(options),
  static: ({ maxRatePerSec }) => new StaticController({ maxRatePerSec }),
  none: () => new NoneController(),
}

/** Creates the controller of one target. @param options  those of AdapTBF; other controllers use the ones that apply to them. */
export const makeController = (name: ControllerName, options: AdapTbfOptions): Controller => FACTORIES[name](options)
