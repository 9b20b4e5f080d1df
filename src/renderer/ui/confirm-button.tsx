import { Button, Popover } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';

/** An act that cannot be taken back asks once, beside the button, and says what will happen. */
export function ConfirmButton({
  children,
  question,
  confirm,
  onConfirm,
  disabled = false,
  loading = false,
  icon,
  variant = 'default',
}: {
  children: ReactNode;
  question: ReactNode;
  /** The word of the act, e.g. `Cancel the run`. */
  confirm: string;
  onConfirm: () => void;
  disabled?: boolean;
  loading?: boolean;
  icon?: ReactNode;
  variant?: string;
}) {
  const [open, setOpen] = useState(false);
  return (
    <Popover opened={open} onChange={setOpen} position="bottom-end" width={300} trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant={variant}
          disabled={disabled}
          loading={loading}
          leftSection={icon}
          onClick={() => {
            setOpen((was) => !was);
          }}
        >
          {children}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <p style={{ margin: '0 0 12px' }}>{question}</p>
        <div style={{ display: 'flex', gap: 8, justifyContent: 'flex-end' }}>
          <Button
            variant="default"
            onClick={() => {
              setOpen(false);
            }}
          >
            Keep
          </Button>
          <Button
            color="red"
            variant="light"
            onClick={() => {
              setOpen(false);
              onConfirm();
            }}
          >
            {confirm}
          </Button>
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
