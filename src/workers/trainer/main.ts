/** Entry of the trainer process. Calls change one model: the next begins when the last has ended. */
import { AppError } from '#shared/errors.ts';
import { openHostLine } from '../channel/serve-calls.ts';
import { TrainerSession } from './session.ts';

openHostLine().serve({
  name: 'trainer',
  handlers: new TrainerSession().handlers,
  inTurn: true,
  // Shapes, rows and names that do not go together are the caller's.
  readable: (error) =>
    error instanceof RangeError
      ? new AppError({ code: 'INVALID_INPUT', message: error.message, cause: error })
      : null,
});
