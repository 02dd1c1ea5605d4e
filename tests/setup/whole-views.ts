/** Tests of components look at whole views: what comes a picture later is there at once. */
import { revealing } from '../../renderer/composables/use-revealed.ts'

revealing.atOnce = true
