"""What every table is: columns, manifest, files, rows, finding and opening."""
